"""Texts of a corpus in tables: as they read, with a mark for everything that would not show."""

import re

from minigpt.corpus.corpus import Corpus
from minigpt.tokenizers.labels import visible_label

_WITHIN = re.compile(r"(?<=[^·])·(?=[^·])")  # a single space between two characters that show


def readable(text: str, most: int = 300) -> str:
    """The beginning of `text` for a table cell: odd characters by their labels, single inner spaces as spaces.

    More than `most` characters end in an ellipsis.

    >>> readable("two  spaces, a\\ttab and an end ")
    'two··spaces, a‹TAB›tab and an end·'
    """
    shown = _WITHIN.sub(" ", visible_label(text[:most].encode("utf-8", errors="replace")))
    return f"{shown} …" if len(text) > most else shown


def is_one_text(corpus: Corpus) -> bool:
    """Whether the corpus is one continuous text, read as one or of several lines, rather than records."""
    first, *others = corpus.train
    return not others and (first.id in ("text", "text-train") or "\n" in first.text)
