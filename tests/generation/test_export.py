"""Exports: every token with its exact numbers, hostile text as text."""

import csv
import io

import pytest

from minigpt.generation.compare import Comparison
from minigpt.generation.export import HEADER, to_csv, to_markdown
from minigpt.generation.settings import PRESETS, SampleConfig
from minigpt.inspection.sources import load_source

COLUMNS = (PRESETS["greedy"], SampleConfig(1.5, seed=3, max_new_tokens=40))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    made = Comparison(*load_source("mini-gpt", 16), "The ", COLUMNS, dice_seed=8)
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
        assert float(row["temperature"]) == COLUMNS[step.column].temperature
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
    fresh = Comparison(*load_source("mini-gpt", 0), "", COLUMNS)
    assert to_csv(fresh) == ",".join(HEADER) + "\n"
    assert "Prompt: (empty)" in to_markdown(fresh, "", "mg-1 at step 0")
