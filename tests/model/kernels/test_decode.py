"""The decoder's logits are those of the general forward, for every kind of model and any batch."""

import pytest
import torch

from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.kernels.decode import Decoder

IDS = torch.tensor([[3, 7, 7, 0, 19, 4, 11, 2, 2, 14], [5, 1, 9, 16, 8, 8, 3, 12, 0, 6]])


@torch.no_grad()
def assert_decodes_like_forward(model: MiniGPT, ids: torch.Tensor, prompt: int, tolerance: float) -> None:
    """After a prompt, every further position up to the last of the context."""
    cache, decoder = KVCache(model.config, batch=len(ids)), Decoder(model)
    first = model.next_logits(ids[:, :prompt], cache)
    assert (first - model(ids[:, :prompt])[:, -1]).abs().max() <= tolerance
    for end in range(prompt + 1, ids.shape[1] + 1):
        logits = decoder(ids[:, end - 1], cache)
        assert logits.shape == (len(ids), model.config.vocab_size)
        assert (logits - model(ids[:, :end])[:, -1]).abs().max() <= tolerance
        assert cache.length == end


@pytest.mark.parametrize("prompt", [1, 4, 9])
def test_every_kind_of_model(grid_model: MiniGPT, tolerance: float, prompt: int):
    assert_decodes_like_forward(grid_model, IDS, prompt, tolerance)
    assert_decodes_like_forward(grid_model, IDS[:1], prompt, tolerance)


@torch.no_grad()
def test_kept_rows_go_on_as_if_alone(small):
    model = small(layers=3)
    cache, decoder = KVCache(model.config, batch=3), Decoder(model)
    three = torch.cat([IDS, IDS.flip(0)[:1] + 2])
    model.next_logits(three[:, :5], cache)
    cache.keep([2, 0])
    logits = decoder(three[[2, 0], 5], cache)
    assert (logits - model(three[[2, 0], :6])[:, -1]).abs().max() <= 1e-12


@torch.no_grad()
def test_the_cache_it_grows_serves_the_forward(small):
    model = small(layers=2)
    cache = KVCache(model.config, batch=2)
    model.next_logits(IDS[:, :3], cache)
    Decoder(model)(IDS[:, 3], cache)
    assert (model(IDS[:, 4:8], cache=cache) - model(IDS[:, :8])[:, 4:]).abs().max() <= 1e-12


@torch.no_grad()
def test_an_update_of_the_model_is_seen(small):
    model = small()
    decoder, cache = Decoder(model), KVCache(model.config)
    model.blocks[0].ffn.w1.mul_(3)
    model.next_logits(IDS[:1, :2], cache)
    assert (decoder(IDS[:1, 2], cache) - model(IDS[:1, :3])[:, -1]).abs().max() <= 1e-12


@torch.no_grad()
def test_a_full_cache_and_another_batch_are_refused(small):
    model = small()
    cache = KVCache(model.config, capacity=2)
    model.next_logits(IDS[:1, :2], cache)
    with pytest.raises(ValueError, match="holds 2 of 2 positions of 1 texts, got one more of 1"):
        Decoder(model)(IDS[:1, 2], cache)
    with pytest.raises(ValueError, match="of 1 texts, got one more of 2"):
        Decoder(model)(IDS[:, 2], KVCache(model.config))
