"""A language made of English: each sentence bracketed, accented and 40 % longer. What is not translated shows."""

import io
import re
from math import ceil
from pathlib import Path
from string import Formatter

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

OPEN, CLOSE = "⟦", "⟧"
LANGUAGE = "xx"
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ACCENTED = "àƀćďéƒğĥîĵķłɱñöƥɋŕšţûṽŵẋýžÀƁĆĎÉƑĞĤÎĴĶŁṀÑÖƤɊŔŠŢÛṼŴẊÝŽ"
_TABLE = str.maketrans(_PLAIN, _ACCENTED)
_KEPT = re.compile(r"(:[a-z_]+/?[a-z_]*:|:[a-z]+(?=\[)|\$[^$]+\$|`[^`]+`)")  # icons, colors, formulas, code


def pseudo(template: str) -> str:
    """The template in the language; its placeholders stay.

    >>> pseudo("{count} keys")
    '⟦{count} ķéýš ǿǿ⟧'
    """
    out, letters = [], 0
    for text, field, spec, conversion in Formatter().parse(template):
        pieces = _KEPT.split(text)
        out += [piece if number % 2 else piece.translate(_TABLE) for number, piece in enumerate(pieces)]
        out[-1] = out[-1].replace("{", "{{").replace("}", "}}")
        letters += len(text)
        if field is not None:
            out.append("{" + field + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}")
    words = " " in template.strip()
    more = "ǿ" * ceil(0.4 * letters)
    longer = "".join(f" {more[start : start + 6]}" for start in range(0, len(more), 6)) if words else more
    return f"{OPEN}{''.join(out)}{longer}{CLOSE}"


def write_catalogue(pot: bytes, folder: Path) -> None:
    """Compile the language's catalogue of an extracted template into the locale folder `folder`."""
    catalog = read_po(io.BytesIO(pot), locale="en")
    for message in catalog:
        if message.id:
            many = isinstance(message.id, tuple)
            message.string = tuple(map(pseudo, message.id)) if many else pseudo(message.id)
    place = folder / LANGUAGE / "LC_MESSAGES"
    place.mkdir(parents=True)
    with (place / "minigpt.mo").open("wb") as file:
        write_mo(file, catalog)


def outside(text: str) -> str:
    """What of `text` no sentence of the language holds, values put into one included.

    >>> outside("⟦ķéý ⟦a⟧ red⟧ = blue")
    ' = blue'
    """
    out, depth = [], 0
    for character in text:
        depth += character == OPEN
        if depth == 0:
            out.append(character)
        depth -= character == CLOSE and depth > 0
    return "".join(out)
