"""Columns side by side: rounds, where they part, and the numbers of a text."""

import csv
import io
import math

import pytest

from minigpt.corpus.corpus import Record
from minigpt.corpus.library import bundled_corpus
from minigpt.generation.compare import HEADER, Comparison, measure, to_csv, to_markdown
from minigpt.generation.settings import PRESETS, SampleConfig
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.inspection.sources import load_source, preset_model

COLUMNS = (PRESETS["greedy"], SampleConfig(seed=1), SampleConfig(0.8, seed=2, max_new_tokens=3))


def test_rounds_and_slices_give_what_generate_gives():
    model, tokenizer = load_source("mini-gpt", 50)
    comparison = Comparison(model, tokenizer, "The ", COLUMNS)
    assert (comparison.rounds, comparison.growing, comparison.finished) == (0, 3, False)
    comparison.advance_round()
    assert [len(steps) for steps in comparison.steps] == [1, 1, 1]
    comparison.advance(0.0)
    assert comparison.rounds == 2
    comparison.advance(600)
    assert comparison.finished and comparison.growing == 0
    for column, settings in enumerate(COLUMNS):
        alone = [step.id for step in generate(model, tokenizer, prompt_ids(tokenizer, "The "), settings)]
        assert [step.id for step in comparison.steps[column]] == alone
        assert comparison.written(column) == tokenizer.decode_bytes(alone)
    assert len(comparison.steps[2]) <= 3
    comparison.advance(600)
    comparison.advance_round()  # nothing is left to do
    assert comparison.rounds == max(map(len, comparison.steps))


def test_the_token_at_which_columns_part():
    model, tokenizer = load_source("mini-gpt", 600)
    same = Comparison(model, tokenizer, "The ", [SampleConfig(seed=4)] * 2)
    assert same.first_difference is None
    same.advance(600)
    assert same.first_difference is None
    other = Comparison(model, tokenizer, "The ", [SampleConfig(seed=4), SampleConfig(seed=4, max_new_tokens=2)])
    other.advance_round()
    other.advance_round()
    assert other.first_difference is None  # one has ended, the other has not gone on yet
    other.advance(600)
    assert other.first_difference == 2


def test_the_numbers_of_a_text():
    model, tokenizer = load_source("mini-gpt", 600)
    steps = list(generate(model, tokenizer, prompt_ids(tokenizer, "The "), PRESETS["greedy"]))
    found = measure(tokenizer, steps, bundled_corpus().train)
    ids = [step.id for step in steps]
    assert found.tokens == len(ids) and found.stop == steps[-1].stop
    assert found.distinct_1 == len(set(ids)) / len(ids)
    surprises = [-math.log(step.raw_probability) for step in steps]
    assert found.surprise == pytest.approx(sum(surprises) / len(ids), abs=1e-12)
    assert found.entropy == 0.0 < found.raw_entropy
    written = tokenizer.decode_bytes(ids)
    record = bundled_corpus().train[found.copy.record].text.encode()
    assert found.copy.text in record and found.copy.text in written
    assert found.memorized == any(written in other.text.encode() for other in bundled_corpus().train)


def test_a_copy_is_memorized_only_if_it_is_the_whole_text():
    model, tokenizer = load_source("mini-gpt", 600)
    steps = list(generate(model, tokenizer, prompt_ids(tokenizer, "The "), PRESETS["greedy"]))
    written = tokenizer.decode([step.id for step in steps])
    assert measure(tokenizer, steps, [Record("a", f"x{written}y")]).memorized
    part = measure(tokenizer, steps, [Record("a", written[1:])])
    assert not part.memorized and part.copy.length == len(written) - 1
    assert not measure(tokenizer, [], [Record("a", "b")]).memorized


def test_too_many_logits_are_refused_before_the_work(monkeypatch: pytest.MonkeyPatch):
    model, tokenizer = load_source("mini-gpt", 0)
    monkeypatch.setenv("MINIGPT_KEPT_LOGITS", "10000")
    sentence = "2 columns of this length keep 13,968 logits, at most 10,000 are allowed"
    with pytest.raises(ValueError, match=sentence):
        Comparison(model, tokenizer, "", [SampleConfig()] * 2)
    with pytest.raises(ValueError, match="the context must have 1 to 64 ids, BOS included, got 65"):
        Comparison(model, tokenizer, "z" * 64, [SampleConfig()])


def test_columns_that_are_not_kept_have_the_same_numbers_without_distributions(monkeypatch):
    model, tokenizer = preset_model("mg-1")
    columns = [SampleConfig(seed=seed, max_new_tokens=6) for seed in (1, 2)]
    kept = Comparison(model, tokenizer, "The ", columns)
    monkeypatch.setenv("MINIGPT_KEPT_LOGITS", "1")
    bare = Comparison(model, tokenizer, "The ", columns, keep=False)
    for comparison in (kept, bare):
        comparison.advance(60)
    records = [Record("a", "The cat")]
    for one, other in zip(kept.steps, bare.steps, strict=True):
        assert measure(tokenizer, one, records) == measure(tokenizer, other, records)
        assert [step.choice for step in one] == [step.choice for step in other]
        assert all(step.logits.numel() == 0 for step in other)


def test_a_cache_beyond_the_limit_is_refused_before_it_is_made(monkeypatch):
    model, tokenizer = preset_model("mg-1")
    monkeypatch.setenv("MINIGPT_CACHE_BYTES", str(2 * 256 * 12))  # two texts of twelve positions
    with pytest.raises(ValueError, match="2 texts of this length take 6,656 bytes, at most 6,144 are allowed"):
        Comparison(model, tokenizer, "ab", [SampleConfig(max_new_tokens=10)] * 2)
    assert Comparison(model, tokenizer, "ab", [SampleConfig(max_new_tokens=9)] * 2).growing == 2


EXPORTED = (PRESETS["greedy"], SampleConfig(1.5, seed=3, max_new_tokens=40))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    made = Comparison(*load_source("mini-gpt", 16), "The ", EXPORTED, dice_seed=8)
    made.advance(600)
    return made


def test_csv_has_every_token_with_its_exact_numbers(comparison: Comparison):
    rows = list(csv.DictReader(io.StringIO(to_csv(comparison))))
    assert list(rows[0]) == HEADER
    steps = [step for column in comparison.steps for step in column]
    for row, step in zip(rows, steps, strict=True):
        assert (row["column"], int(row["id"])) == ("AB"[step.column], step.id)
        assert float(row["raw_probability"]) == step.raw_probability and float(row["dice"]) == step.dice
        assert bytes.fromhex(row["bytes"]) == comparison.tokenizer.piece_bytes(step.id)
        assert float(row["temperature"]) == EXPORTED[step.column].temperature
        assert row["stop"] == (step.stop or "")
    assert len(rows) > 10


class Named:
    """A tokenizer whose every piece is the same hostile text."""

    def __init__(self, piece: str):
        self.piece = piece

    def piece_label(self, id: int) -> str:
        return self.piece

    def piece_bytes(self, id: int) -> bytes:
        return self.piece.encode()

    def decode_bytes(self, ids) -> bytes:
        return b"".join(self.piece.encode() for _ in ids)


@pytest.mark.parametrize("piece", ["=1+1", "+1", "-1", "@x"])
def test_no_cell_is_a_formula(comparison: Comparison, monkeypatch: pytest.MonkeyPatch, piece: str):
    monkeypatch.setattr(comparison, "tokenizer", Named(piece))
    rows = list(csv.DictReader(io.StringIO(to_csv(comparison))))
    assert {row["piece"] for row in rows} == {"'" + piece}


def test_markdown_shows_text_as_it_is(comparison: Comparison, monkeypatch: pytest.MonkeyPatch):
    hostile = "<img src=x onerror=alert(1)>|**b**`\n[a](b)"
    monkeypatch.setattr(comparison, "tokenizer", Named(hostile))
    page = to_markdown(comparison, hostile, "mini-gpt at step 20")
    assert "<" not in page and "**b**" not in page and "[a](" not in page
    assert "&lt;img" in page and "‹LF›" in page and "\\|" in page
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert len(table) == 4
    assert all(line.replace("\\|", "").count("|") == 7 for line in table)


def test_an_unfinished_comparison_can_be_exported():
    fresh = Comparison(*load_source("mini-gpt", 0), "", EXPORTED)
    assert to_csv(fresh) == ",".join(HEADER) + "\n"
    assert "Prompt: (empty)" in to_markdown(fresh, "", "mg-1 at step 0")
