"""How GPT-2 splits a text into words before any merge: no merge crosses the border of a word.

A word is a contraction (`'s 't 're 've 'm 'll 'd`), or letters, or digits, or other signs, each after at
most one space; or white space, whose last character is left to the word that follows. The classes
are Unicode's: letters L*, numbers N*, and the property White_Space.

Source: A. Radford et al. (2019), Language Models are Unsupervised Multitask Learners, section 2.2, and the
pattern of the published code,
`'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+`.

Python 3.11 knows Unicode 14.0: a letter that a later version assigned counts as a sign here, and as a
letter where the table is newer. Such a text is split elsewhere; decoding gives the same text back.
"""

import re
import sys
import unicodedata
from functools import cache
from itertools import groupby

_PLANE = 0xFFFF  # the last code point of the plane that holds nearly all text
_BEYOND = re.compile(f"[{chr(_PLANE + 1)}-{chr(sys.maxunicode)}]")
_SUBSTITUTES = {"L": "ª", "N": "²"}  # by the first letter of the general category; no white space is beyond the plane
# White_Space of Unicode. Python's \s also takes U+001C to U+001F, which are signs to GPT-2.
SPACES = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def split_words(text: str) -> list[str]:
    """The words of `text`, which joined are `text` again.

    >>> split_words("I'm 12  years\\n\\nold...")
    ['I', "'m", ' 12', ' ', ' years', '\\n', '\\n', 'old', '...']
    """
    if text.isascii():
        return _pattern(0x7F).findall(text)
    if max(text) <= chr(_PLANE):
        return _pattern(_PLANE).findall(text)
    words, start = [], 0
    for word in _pattern(_PLANE).findall(_BEYOND.sub(_substitute, text)):
        words.append(text[start : start + len(word)])
        start += len(word)
    return words


def _substitute(found: re.Match) -> str:
    """A sign of the first plane with the same class: hundreds of ranges beyond it would make the pattern slow."""
    return _SUBSTITUTES.get(unicodedata.category(found[0])[0], "§")


@cache
def _pattern(last: int) -> re.Pattern:
    """The pattern for texts of the code points 0 .. `last`, built when the first such text is split."""
    ranges: dict[str, list[str]] = {"L": [], "N": []}  # of the general categories that begin with the letter
    code = 0
    for major, run in groupby(unicodedata.category(chr(code))[0] for code in range(last + 1)):
        first, code = code, code + sum(1 for _ in run)
        if major in ranges:
            ranges[major].append(f"\\U{first:08x}-\\U{code - 1:08x}")
    letters, numbers = ("".join(part) for part in ranges.values())
    return re.compile(
        f"'s|'t|'re|'ve|'m|'ll|'d| ?[{letters}]+| ?[{numbers}]+| ?[^{SPACES}{letters}{numbers}]+"
        f"|[{SPACES}]+(?![^{SPACES}])|[{SPACES}]+"
    )
