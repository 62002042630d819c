"""Every visible sentence passes through `t`, so that a catalogue in another language needs no change in pages."""

import re


def t(sentence: str, **values) -> str:
    """The sentence with its {values} put in.

    >>> t("{count} tokens by {merges} merges", count=7, merges=4)
    '7 tokens by 4 merges'
    """
    return sentence.format(**values)


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
