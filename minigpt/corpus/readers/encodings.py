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

from minigpt.sentences import Refusal, Sentence, say

ENCODINGS = {
    "utf-8": say("Unicode, the usual one"),
    "utf-16": say("Unicode in pairs of bytes, with a byte order mark"),
    "utf-16-le": say("Unicode in pairs of bytes, low byte first"),
    "utf-16-be": say("Unicode in pairs of bytes, high byte first"),
    "utf-32": say("Unicode in groups of four bytes, with a byte order mark"),
    "gb18030": say("Simplified Chinese, with GBK and GB 2312"),
    "big5": say("Traditional Chinese"),
    "shift_jis": say("Japanese"),
    "cp932": say("Japanese, Windows"),
    "euc_jp": say("Japanese, Unix"),
    "euc_kr": say("Korean"),
    "cp1251": say("Cyrillic, Windows"),
    "koi8_r": say("Cyrillic, Unix"),
    "cp1252": say("Western European, Windows"),
    "latin-1": say("Western European; any bytes are text in it"),
}
_NAMES = {codecs.lookup(name).name: name for name in ENCODINGS} | {"utf-8-sig": "utf-8"}


@dataclass(frozen=True)
class Likeness:
    """What bytes evidently are, in a sentence, and the encodings that this suggests, the best first."""

    sentence: Sentence
    encodings: tuple[str, ...] = ()


_UTF32 = say("It looks like UTF-32.")
_UTF16 = say("It looks like UTF-16.")
_MARKS = (  # the longer ones first: that of UTF-32 begins as that of UTF-16
    (codecs.BOM_UTF32_LE, Likeness(_UTF32, ("utf-32",))),
    (codecs.BOM_UTF32_BE, Likeness(_UTF32, ("utf-32",))),
    (codecs.BOM_UTF8, Likeness(say("It looks like UTF-8."), ("utf-8",))),
    (codecs.BOM_UTF16_LE, Likeness(_UTF16, ("utf-16", "utf-16-le"))),
    (codecs.BOM_UTF16_BE, Likeness(_UTF16, ("utf-16", "utf-16-be"))),
)
_FILES = (  # how files that are not text begin
    (b"PK\x03\x04", Likeness(say("It looks like a zip archive, such as an xlsx or docx file."))),
    (b"\x1f\x8b", Likeness(say("It looks like a gzip archive."))),
    (b"\xd0\xcf\x11\xe0", Likeness(say("It looks like an old Office file."))),
    (b"\x89PNG", Likeness(say("It looks like a PNG picture."))),
    (b"\xff\xd8\xff", Likeness(say("It looks like a JPEG picture."))),
    (b"%PDF-", Likeness(say("It looks like a PDF."))),
)
_LOW_BYTE_FIRST = Likeness(say("It looks like UTF-16 without a byte order mark (utf-16-le)."), ("utf-16-le",))
_HIGH_BYTE_FIRST = Likeness(say("It looks like UTF-16 without a byte order mark (utf-16-be)."), ("utf-16-be",))
_WESTERN = Likeness(say("It looks like cp1252 or latin-1."), ("cp1252", "latin-1"))
_CUT = Likeness(say("It looks like UTF-8 that was cut within a character."))
_BYTE_ENCODINGS = ("utf-8", "cp1251", "koi8_r", "cp1252", "latin-1")  # in which NUL bytes are NUL characters
_NO_TEXT = {"Cc", "Co", "Cn", "Cs"}  # Unicode general categories
_TRIED = 256 * 1024
_SAMPLE = 4096  # bytes at the beginning that show whether every other byte is NUL


class EncodingFault(Refusal):
    """Bytes that are not text in the encoding: `byte` at `offset`; `likeness` is None when nothing is evident."""

    def __init__(self, sentence: Sentence, offset: int, byte: int, likeness: Likeness | None):
        super().__init__(sentence)
        self.offset, self.byte, self.likeness = offset, byte, likeness


@dataclass(frozen=True)
class Decoded:
    """The whole text; `mark` says whether a byte order mark was removed from its beginning."""

    text: str
    encoding: str
    mark: bool


@dataclass(frozen=True)
class Preview:
    """How a file begins in one encoding; `fault` is None when this beginning is text in that encoding."""

    encoding: str
    lines: tuple[str, ...]
    fault: EncodingFault | None


def decode(content: bytes, encoding: str = "utf-8", file: str = "the file") -> Decoded:
    """All of `content` as text.

    Raises ValueError for an unknown encoding; EncodingFault, a ValueError, for bytes that are not text in
    it, for a byte order mark that contradicts it, for UTF-16 or UTF-32 without the mark they need, and
    for one-byte text with a NUL at every other byte, which is UTF-16.

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


def looks_like(content: bytes, offset: int = 0) -> Likeness | None:
    """What bytes that are not UTF-8 evidently are, None if nothing is evident; `offset` is where UTF-8 failed."""
    for begin, likeness in (*_MARKS, *_FILES):
        if content.startswith(begin):
            return likeness
    if (nul := _every_other_nul(content)) is not None:
        return _LOW_BYTE_FIRST if nul % 2 else _HIGH_BYTE_FIRST
    near = content[max(0, offset - _SAMPLE) : offset + _SAMPLE]
    if re.search(rb"[A-Za-z]", near) and not re.search(rb"[\x80-\xff]{2}", near):
        return _WESTERN
    return _CUT if 0 < offset and _cut(content[offset:]) else None


def fitting_encodings(content: bytes) -> tuple[str, ...]:
    """The encodings in which `content` begins as text, in the order of ENCODINGS: to choose from, not to trust.

    The first 256 KB are tried. Control characters, private and unassigned ones
    are not text here, and UTF-16 without a mark is offered only where there are NUL bytes.

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
        likeness = fault.likeness
    else:
        return "utf-8"
    suggested = likeness.encodings if likeness else ()
    return next((name for name in suggested if _begins_as(content, name)), "")


def preview(content: bytes, encoding: str, lines: int = 8, characters: int = 120) -> Preview:
    """The first `lines` lines, each cut to `characters`, as `encoding` reads them, up to its first fault.

    The first 256 KB are read; a later fault shows when all is. Raises ValueError for an unknown encoding.
    """
    encoding = known_encoding(encoding)
    fault: EncodingFault | None = None
    try:
        text = _beginning(content, encoding)
    except EncodingFault as error:
        text, fault = _before(content, encoding, error.offset), error.with_traceback(None)
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
        characters = set(_beginning(content, encoding)[:_SAMPLE]) - set("\t\n\r\f")
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
    marks = [likeness.encodings for mark, likeness in _MARKS if content.startswith(mark)]
    fits = any(encoding in encodings for encodings in marks)
    if encoding in ("utf-16", "utf-32") and content and not fits:
        first = {"file": file, "byte": f"0x{content[0]:02X}"}
        sentence = say("{file} has no byte order mark of UTF-32: its first byte is {byte}", **first)
        if encoding == "utf-16":
            sentence = say(
                "{file} has no byte order mark of UTF-16: its first byte is {byte}; choose utf-16-le or utf-16-be",
                **first,
            )
        raise EncodingFault(sentence, 0, content[0], looks_like(content))
    if marks and encoding not in ("utf-8", "utf-16", "utf-32") and not fits:
        raise _fault(content, encoding, file, 0)


def _every_other_nul(content: bytes) -> int | None:
    """The place of the first NUL if most even or most odd places hold NULs and the others none; else None."""
    begin = content[:_SAMPLE]
    nuls = begin[0::2].count(0), begin[1::2].count(0)
    if len(begin) < 6 or not max(nuls) or min(nuls) or max(nuls) * 3 < len(begin):
        return None
    return begin.index(0)


def _fault(content: bytes, encoding: str, file: str, offset: int) -> EncodingFault:
    byte, likeness = content[offset], looks_like(content, offset)
    values = {"file": file, "encoding": _written(encoding), "byte": f"0x{byte:02X}", "offset": offset}
    if likeness is None:
        sentence = say("{file} is not {encoding}: {byte} at byte {offset}; choose its encoding", **values)
    else:
        sentence = say(
            "{file} is not {encoding}: {byte} at byte {offset}. {likeness} Choose its encoding",
            likeness=likeness.sentence,
            **values,
        )
    return EncodingFault(sentence, offset, byte, likeness)


def _written(encoding: str) -> str:
    return encoding.upper() if encoding.startswith("utf") else encoding
