"""Bytes to text: strict, independent of the system, in the encoding that was asked for and no other.

UTF-8 is the default and is never replaced by a guess. Where it fails, the error names the byte, its
offset and, where that is evident, what the bytes look like; the choice of another encoding is the
caller's, with `preview` to see what it would give. One byte order mark at the beginning belongs to the
encoding and is removed; U+FEFF anywhere else is text.
"""

import codecs
import re
import unicodedata
from dataclasses import dataclass

from minigpt.sentences import Refusal

ENCODINGS = {
    "utf-8": "Unicode, the usual one",
    "utf-16": "Unicode in pairs of bytes, with a byte order mark",
    "utf-16-le": "Unicode in pairs of bytes, low byte first",
    "utf-16-be": "Unicode in pairs of bytes, high byte first",
    "utf-32": "Unicode in fours of bytes, with a byte order mark",
    "gb18030": "Simplified Chinese, with GBK and GB 2312",
    "big5": "Traditional Chinese",
    "shift_jis": "Japanese",
    "cp932": "Japanese, Windows",
    "euc_jp": "Japanese, Unix",
    "euc_kr": "Korean",
    "cp1251": "Cyrillic, Windows",
    "koi8_r": "Cyrillic, Unix",
    "cp1252": "Western European, Windows",
    "latin-1": "Western European; any bytes are text in it",
}
_NAMES = {codecs.lookup(name).name: name for name in ENCODINGS} | {"utf-8-sig": "utf-8"}
_MARKS = (  # the longer ones first: that of UTF-32 begins as that of UTF-16
    (codecs.BOM_UTF32_LE, "UTF-32", ("utf-32",)),
    (codecs.BOM_UTF32_BE, "UTF-32", ("utf-32",)),
    (codecs.BOM_UTF8, "UTF-8", ("utf-8",)),
    (codecs.BOM_UTF16_LE, "UTF-16", ("utf-16", "utf-16-le")),
    (codecs.BOM_UTF16_BE, "UTF-16", ("utf-16", "utf-16-be")),
)
_FILES = (  # how files that are no text begin
    (b"PK\x03\x04", "a zip archive, as xlsx and docx files are"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"%PDF-", "a PDF"),
)
_BYTE_ENCODINGS = ("utf-8", "cp1251", "koi8_r", "cp1252", "latin-1")  # in which NUL bytes are NUL characters
_NO_TEXT = {"Cc", "Co", "Cn", "Cs"}  # Unicode general categories
_TRIED = 256 * 1024
_LOOKED_AT = 4096  # bytes at the beginning that show whether NULs stand in every other place


class EncodingFault(ValueError):
    """Bytes that are no text in the encoding: `byte` at `offset`; `looks_like` is "" when nothing is evident."""

    def __init__(self, sentence: str, offset: int, byte: int, looks_like: str):
        super().__init__(sentence)
        self.offset, self.byte, self.looks_like = offset, byte, looks_like


@dataclass(frozen=True)
class Decoded:
    """The whole text; `mark` says whether a byte order mark was removed from its beginning."""

    text: str
    encoding: str
    mark: bool


@dataclass(frozen=True)
class Preview:
    """How a file begins in one encoding; `fault` is "" when this beginning is text in that encoding."""

    encoding: str
    lines: tuple[str, ...]
    fault: str


def decode(content: bytes, encoding: str = "utf-8", file: str = "the file") -> Decoded:
    """All of `content` as text.

    Raises ValueError for an unknown encoding; EncodingFault, a ValueError, for bytes that are no text in
    it, for a byte order mark that contradicts it, for UTF-16 or UTF-32 without the mark they need, and
    for one-byte text with NULs in every other place, which is UTF-16.

    >>> decode(b"\\xef\\xbb\\xbfone")
    Decoded(text='one', encoding='utf-8', mark=True)
    """
    encoding = known_encoding(encoding)
    _check_mark(content, encoding, file)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _fault(content, encoding, file, error.start) from error
    except UnicodeError as error:  # a codec that does not say where
        raise _fault(content, encoding, file, 0) from error
    if encoding in _BYTE_ENCODINGS and (offset := _every_other_nul(content)) is not None:
        raise _fault(content, encoding, file, offset)
    marked = encoding not in ("utf-16", "utf-32") and text.startswith("\ufeff")
    return Decoded(text[1:] if marked else text, encoding, marked or encoding in ("utf-16", "utf-32") and bool(content))


def known_encoding(name: str) -> str:
    """The encoding as ENCODINGS writes it; ValueError that lists them for any other."""
    try:
        return _NAMES[codecs.lookup(name).name]
    except (LookupError, TypeError, ValueError) as error:
        raise Refusal(
            "encoding must be one of {encodings}, got {name!r:.60}", encodings=", ".join(ENCODINGS), name=name
        ) from error


def looks_like(content: bytes, offset: int = 0) -> str:
    """What bytes that are not UTF-8 evidently are, "" if nothing is evident; `offset` is where UTF-8 failed."""
    for begin, kind in (*((mark, name) for mark, name, _ in _MARKS), *_FILES):
        if content.startswith(begin):
            return kind
    if (nul := _every_other_nul(content)) is not None:
        return f"UTF-16 without a byte order mark ({'utf-16-le' if nul % 2 else 'utf-16-be'})"
    near = content[max(0, offset - _LOOKED_AT) : offset + _LOOKED_AT]
    if re.search(rb"[A-Za-z]", near) and not re.search(rb"[\x80-\xff]{2}", near):
        return "cp1252 or latin-1"
    return "UTF-8 that was cut within a character" if 0 < offset and _cut(content[offset:]) else ""


def fitting_encodings(content: bytes) -> tuple[str, ...]:
    """The encodings in which `content` begins as text, in the order of ENCODINGS: to choose from, not to trust.

    The first 256 KB are tried. Control characters, private and unassigned ones
    are no text here, and UTF-16 without a mark is offered only where there are NUL bytes.

    >>> fitting_encodings(b"caf\\xe9")
    ('cp1251', 'koi8_r', 'cp1252', 'latin-1')
    """
    return tuple(name for name in ENCODINGS if _begins_as(content, name))


def likely_encoding(content: bytes) -> str:
    """The encoding of ENCODINGS that the bytes look like, "" if nothing is evident: to offer first, not to trust.

    Only one in which they begin as text. Western European bytes are text in cp1252 and latin-1 alike, as a rule;
    cp1252 holds all that latin-1 does, and the quotes of Windows.

    >>> likely_encoding(b"caf\\xe9")
    'cp1252'
    """
    try:
        decode(content)
    except EncodingFault as fault:
        kind = fault.looks_like
    else:
        return "utf-8"
    named = [name for _, mark, names in _MARKS if mark == kind for name in names]
    named += [name for name in ("utf-16-le", "utf-16-be") if f"({name})" in kind]
    named += ["cp1252", "latin-1"] if kind == "cp1252 or latin-1" else []
    return next((name for name in named if _begins_as(content, name)), "")


def preview(content: bytes, encoding: str, lines: int = 8, characters: int = 120) -> Preview:
    """The first `lines` lines, each cut to `characters`, as `encoding` reads them, up to its first fault.

    The first 256 KB are read; a later fault shows when all is. Raises ValueError for an unknown encoding.
    """
    encoding, fault = known_encoding(encoding), ""
    try:
        text = _beginning(content, encoding)
    except EncodingFault as error:
        text, fault = _before(content, encoding, error.offset), str(error)
    rows = text.split("\n", lines)[:lines]
    return Preview(encoding, tuple(row.removesuffix("\r")[:characters] for row in rows), fault)


def _beginning(content: bytes, encoding: str) -> str:
    """The text of the first 256 KB, where the last character may be cut; EncodingFault as `decode` raises it."""
    if len(content) <= _TRIED:
        return decode(content, encoding).text
    _check_mark(content, encoding, "the file")
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content[:_TRIED])
    except UnicodeDecodeError as error:
        raise _fault(content, encoding, "the file", error.start) from error
    if encoding in _BYTE_ENCODINGS and (offset := _every_other_nul(content)) is not None:
        raise _fault(content, encoding, "the file", offset)
    return text.removeprefix("\ufeff")


def _begins_as(content: bytes, encoding: str) -> bool:
    try:
        characters = set(_beginning(content, encoding)[:_LOOKED_AT]) - set("\t\n\r\f")
    except EncodingFault:
        return False
    if encoding in ("utf-16-le", "utf-16-be") and b"\0" not in content[:_TRIED]:
        return False
    return not any(unicodedata.category(character) in _NO_TEXT for character in characters)


def _cut(rest: bytes) -> bool:
    """Whether UTF-8 ends within the character that `rest` begins."""
    try:
        rest.decode()
    except UnicodeDecodeError as error:
        return error.start == 0 and error.reason == "unexpected end of data"
    return False


def _before(content: bytes, encoding: str, offset: int) -> str:
    try:
        return content[:offset].decode(encoding).removeprefix("\ufeff")
    except UnicodeError:
        return ""


def _check_mark(content: bytes, encoding: str, file: str) -> None:
    marks = [(name, fits) for mark, name, fits in _MARKS if content.startswith(mark)]
    if encoding in ("utf-16", "utf-32") and content and not any(encoding in fits for _, fits in marks):
        other = "; choose utf-16-le or utf-16-be" if encoding == "utf-16" else ""
        sentence = f"{file} has no byte order mark of {_written(encoding)}{other}: its first byte is 0x{content[0]:02X}"
        raise EncodingFault(sentence, 0, content[0], looks_like(content))
    if marks and encoding not in ("utf-8", "utf-16", "utf-32") and not any(encoding in fits for _, fits in marks):
        raise _fault(content, encoding, file, 0)


def _every_other_nul(content: bytes) -> int | None:
    """The place of the first NUL if most even or most odd places hold NULs and the others none; else None."""
    begin = content[:_LOOKED_AT]
    nuls = begin[0::2].count(0), begin[1::2].count(0)
    if len(begin) < 6 or not max(nuls) or min(nuls) or max(nuls) * 3 < len(begin):
        return None
    return begin.index(0)


def _fault(content: bytes, encoding: str, file: str, offset: int) -> EncodingFault:
    byte, like = content[offset], looks_like(content, offset)
    seems = f", looks like {like}" if like else ""
    sentence = f"{file} is not {_written(encoding)}: 0x{byte:02X} at byte {offset}{seems}; choose its encoding"
    return EncodingFault(sentence, offset, byte, like)


def _written(encoding: str) -> str:
    return encoding.upper() if encoding.startswith("utf") else encoding
