"""Every visible sentence passes through `t`, `tn` or `translate`, so that a catalogue serves it without a change here.

The catalogue is a gettext one: `locale/<language>/LC_MESSAGES/minigpt.mo`, in the folder `MINIGPT_LOCALE` if that is
set, for the language `MINIGPT_LANGUAGE`. Without one, the sentences are the English ones in the code.
"""

import gettext
import os
import re
from functools import cache
from typing import Any

from minigpt.sentences import Refusal, Sentence
from minigpt.storage.paths import ROOT


@cache
def _catalogue() -> gettext.NullTranslations:
    language = os.environ.get("MINIGPT_LANGUAGE", "en")
    folder = os.environ.get("MINIGPT_LOCALE") or str(ROOT / "locale")
    return gettext.translation("minigpt", folder, languages=[language], fallback=True)


def t(template: str, /, **values: Any) -> str:
    """The sentence in the reader's language with its {values} put in. `template` is a literal, for the extraction.

    >>> t("{count} tokens by {merges} merges", count=7, merges=4)
    '7 tokens by 4 merges'
    """
    return translate(Sentence(template, values))


def tn(one: str, many: str, /, count: int, **values: Any) -> str:
    """One of two templates, both literals, by `count`.

    >>> tn("{count} record", "{count} records", count=2)
    '2 records'
    """
    return translate(Sentence(one, {"count": count, **values}, many))


def translate(said: str | Exception) -> str:
    """A sentence or an error of the library in the reader's language; text that is not a `Sentence` stays as it is."""
    sentence = said.sentence if isinstance(said, Refusal) else said
    if isinstance(sentence, Sentence):
        return sentence.translated(_catalogue().gettext, _catalogue().ngettext)
    return str(sentence)


def plain(text: str) -> str:
    """`text` for a place that reads Markdown: it shows, and is copied, as it is. Line ends become spaces.

    Every mark is escaped. That does not stop what Streamlit finds only afterwards in the text it has read: addresses,
    which it makes links, `:smile:` and other pictures, and arrows of dashes. It looks for them in one stretch of text
    at a time, so each is parted by a `:color[]` that colors nothing: an empty span, without a character or a width.

    >>> print(plain("**b** $x$"))
    \\*\\*b\\*\\* \\$x\\$
    >>> print(plain("www.x.example"))
    www:color[]\\.x\\.example
    """
    parts = _SEAMS.split(text.translate(_LINE_ENDS))
    return _SEAM.join(
        "".join(f"\\{character}" if character in _MARKS else character for character in part) for part in parts
    )


_MARKS = set("\\`*_{}[]()<>#+-.!|$:~&\"'=^@/")
_LINE_ENDS = str.maketrans("\r\n", "  ")
_SEAM = ":color[]"
_SEAMS = re.compile(
    r"(?<=:)(?=[\w/+-])"  # http://x, :smile:, :material_face:, :streamlit:
    r"|(?<=www)(?=\.)"  # www.x.example
    r"|(?<=[\w.+-])(?=@)"  # a@b.co
    r"|(?<=[<-])(?=-)|(?<=-)(?=>)|(?<=[<>~])(?==)"  # <- -- -> <= >= ~=, drawn as one character
    r"|^(?=[ \t])",  # four spaces in front would be code
    re.IGNORECASE,
)
