"""Every visible sentence passes through `t`, so that a catalogue in another language needs no change in pages."""


def t(sentence: str, **values) -> str:
    """The sentence with its {values} put in.

    >>> t("{count} tokens by {merges} merges", count=7, merges=4)
    '7 tokens by 4 merges'
    """
    return sentence.format(**values)


def plain(text: str) -> str:
    """`text` for a place that reads Markdown: every mark escaped, so that it shows as it is.

    >>> plain("**b** $x$ :red[a]")
    '\\\\*\\\\*b\\\\*\\\\* \\\\$x\\\\$ \\\\:red\\\\[a\\\\]'
    """
    return "".join(f"\\{character}" if character in _MARKS else character for character in text.replace("\n", " "))


_MARKS = set("\\`*_{}[]()<>#+-.!|$:~&\"'=^@/")
