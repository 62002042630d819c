"""What to train on a corpus to begin with: which preset, tokenizer, context and mode suit its texts.

    short records        mg-1, records as they are
    long texts           chapter-7, windows of the text
    mostly Chinese       poems, one id a character; records if all fit, else windows

A starting point: everything can be changed.
"""

import re
from dataclasses import dataclass
from statistics import median

from minigpt.config import TokenizerConfig
from minigpt.corpus.corpus import Corpus, Record
from minigpt.presets import PRESETS

LONG = 300  # characters of the median record from which on windows are better
SAMPLE = 200_000  # characters whose script is counted
CONTEXTS = (64, 128, 256)
WINDOW = 128  # positions, where records do not decide
SCORED_ROWS = 200  # of a large split in one evaluation; all of a smaller one
MERGES = ((20_000, 32), (200_000, 128), (2_000_000, 256))  # up to so many bytes of text so many merges
MOST_MERGES = 512
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Advice:
    """Settings for a first run. `reason` is short, long or han: see the top of this file."""

    preset: str
    tokenizer: TokenizerConfig
    mode: str
    context_length: int
    evaluation_rows: int  # 0 = all
    reason: str


def advise(corpus: Corpus, tokenizer: TokenizerConfig | None = None, longest: int | None = None) -> Advice:
    """Settings for `corpus`; with a `tokenizer` chosen already and the tokens of the `longest` record under it.

    Where these tokens are not known, no record has more than it has bytes (characters, for kind "chars").

    Example: MG-1's records give mg-1 at 64 positions; one long text gives chapter-7 in windows of 128.
    """
    records = corpus.train + corpus.validation
    reason = "han" if _mostly_han(records) else "long" if _are_long(records) else "short"
    if tokenizer is None:
        size = sum(len(record.text.encode()) for record in records)
        tokenizer = TokenizerConfig("chars") if reason == "han" else TokenizerConfig(merges=_merges(size))
    if longest is None:
        longest = max(_most_tokens(record.text, tokenizer) for record in records)
    preset = PRESETS[{"han": "poems", "long": "chapter-7", "short": "mg-1"}[reason]]
    fits = [context for context in CONTEXTS if preset.model.context_length <= context > longest]
    if reason == "long" or not fits:
        rows = sum(len(record.text) for record in records) // WINDOW
        return Advice(preset.name, tokenizer, "windows", WINDOW, SCORED_ROWS if rows > SCORED_ROWS else 0, reason)
    rows = SCORED_ROWS if len(records) > 5 * SCORED_ROWS else 0
    return Advice(preset.name, tokenizer, "records", fits[0], rows, reason)


def _mostly_han(records: tuple[Record, ...]) -> bool:
    text = ""
    for record in records:
        text += record.text[: SAMPLE - len(text)]
        if len(text) >= SAMPLE:
            break
    han, letters = (sum(len(run) for run in kind.findall(text)) for kind in (_HAN, _LETTERS))
    return 2 * han > letters


def _are_long(records: tuple[Record, ...]) -> bool:
    return median(len(record.text) for record in records) > LONG


def _merges(size: int) -> int:
    return next((merges for most, merges in MERGES if size <= most), MOST_MERGES)


def _most_tokens(text: str, tokenizer: TokenizerConfig) -> int:
    return len(text) if tokenizer.kind == "chars" else len(text.encode())
