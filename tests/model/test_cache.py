"""Cached logits equal uncached ones at every step; capacity, reuse and bytes."""

import pytest
import torch

from minigpt.model.cache import KVCache, cache_bytes
from minigpt.model.gpt import MiniGPT
from minigpt.presets import preset

IDS = torch.tensor([[3, 7, 7, 0, 19, 4, 11, 2, 2, 14], [5, 1, 9, 16, 8, 8, 3, 12, 0, 6]])


@pytest.fixture(params=[1, 3], ids=["1-block", "3-blocks"])
def model(request: pytest.FixtureRequest, small) -> MiniGPT:
    return small(layers=request.param, attention_bias=True, activation="gelu")


@torch.no_grad()
def assert_cached_equals_uncached(model: MiniGPT, ids: torch.Tensor, parts: list[int], tolerance: float = 1e-12):
    """Feed `ids` in `parts` through one cache; each part's logits are those of the whole prefix."""
    cache, start = KVCache(model.config, batch=len(ids)), 0
    for part in parts:
        end = start + part
        cached = model(ids[:, start:end], cache=cache)
        assert (cached - model(ids[:, :end])[:, start:end]).abs().max() <= tolerance
        assert cache.length == end
        start = end


@pytest.mark.parametrize("prompt", range(1, 11))
def test_every_prompt_length_then_single_steps(model: MiniGPT, prompt: int):
    assert_cached_equals_uncached(model, IDS[:1], [prompt] + [1] * (10 - prompt))


@pytest.mark.parametrize("parts", [[3, 4, 3], [4, 1, 5], [1, 9], [5, 5]])
def test_several_queries_over_cached_keys(model: MiniGPT, parts: list[int]):
    assert_cached_equals_uncached(model, IDS, parts)


def test_float32(small):
    assert_cached_equals_uncached(small(layers=3, dtype="float32"), IDS, [4, 1, 1, 1, 1, 1, 1], tolerance=1e-5)


def test_thirty_ids_then_single_steps(small):
    model = small(context_length=40, heads=2, layers=2)
    ids = torch.randint(20, (1, 40), generator=torch.Generator().manual_seed(2))
    assert_cached_equals_uncached(model, ids, [30] + [1] * 10)


@torch.no_grad()
def test_a_fresh_cache_knows_nothing_of_the_last_text(model: MiniGPT):
    first = KVCache(model.config)
    model(IDS[:1], cache=first)
    for rows in (IDS[1:], IDS):  # another text, then another batch size
        fresh = KVCache(model.config, batch=len(rows))
        assert torch.equal(model(rows, cache=fresh), model(rows, cache=KVCache(model.config, batch=len(rows))))
        assert (fresh.keys[:, -1] - first.keys[:, 0]).abs().max() > 1e-3


@torch.no_grad()
def test_two_texts_decode_side_by_side(model: MiniGPT):
    caches = [KVCache(model.config), KVCache(model.config)]
    for t in range(10):
        for row, cache in enumerate(caches):
            cached = model(IDS[row : row + 1, t : t + 1], cache=cache)
            assert (cached[0, 0] - model(IDS[row : row + 1, : t + 1])[0, -1]).abs().max() <= 1e-12


@torch.no_grad()
def test_one_query_sees_all_four_keys(small):
    """The value of each of four keys moves the last logits; a query that saw key 0 only would not notice."""
    model = small()
    for changed in range(4):
        ids = IDS[:1, :4].clone()
        ids[0, changed] = 13
        caches = [KVCache(model.config), KVCache(model.config)]
        last = []
        for row, cache in zip((IDS[:1, :4], ids), caches, strict=True):
            model(row[:, :3], cache=cache)
            last.append(model(row[:, 3:], cache=cache))
        assert (last[0] - last[1]).abs().max() > 1e-4


def test_the_end_of_the_context_is_the_end(small):
    model = small()
    cache = KVCache(model.config)
    model(IDS[:1], cache=cache)
    with pytest.raises(ValueError, match="1 positions do not fit: 0 of the context are free"):
        model(IDS[:1, :1], cache=cache)
    assert cache.length == 10


def test_smaller_capacity_ends_earlier(small):
    model = small()
    cache = KVCache(model.config, capacity=4)
    model(IDS[:1, :3], cache=cache)
    with pytest.raises(ValueError, match="2 positions do not fit: 1 of the context are free"):
        model(IDS[:1, 3:5], cache=cache)
    model(IDS[:1, 3:4], cache=cache)
    assert (cache.length, cache.capacity) == (4, 4)


@pytest.mark.parametrize("capacity", [0, -1, 11])
def test_refused_capacity(small, capacity: int):
    with pytest.raises(ValueError, match=f"cache capacity must be 1 to 10 positions, got {capacity}"):
        KVCache(small().config, capacity=capacity)


def test_valid_beside_a_cache_is_refused(small):
    model = small()
    with pytest.raises(ValueError, match="leave out valid"):
        model(IDS[:1], torch.ones(1, 10).bool(), cache=KVCache(model.config))


@pytest.mark.parametrize(("held", "given"), [(1, 2), (2, 1)])
def test_another_number_of_records_is_refused(small, held: int, given: int):
    model = small()
    cache = KVCache(model.config, batch=held)
    with pytest.raises(ValueError, match=f"this cache is for {held} records at once, got {given}"):
        model(IDS[:given], cache=cache)
    assert cache.length == 0


def test_bytes(small):
    config = small(layers=3, dtype="float32").config
    assert KVCache(config, batch=2, capacity=5).bytes == 2 * 3 * 2 * 5 * 8 * 4
    assert KVCache(small().config).bytes == 2 * 1 * 1 * 10 * 8 * 8


def test_bytes_are_those_of_a_cache():
    config = preset("chapter-7").model
    assert cache_bytes(config, 128) == KVCache(config).bytes
    assert cache_bytes(preset("gpt2-small").model, 1) == 18_432 * 4
    assert cache_bytes(preset("gpt2-small").model, 1024) == 75_497_472
