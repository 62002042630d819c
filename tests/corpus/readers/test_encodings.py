"""Bytes to text: strict, by the encoding asked for, with the byte and offset of what does not fit."""

import pytest

from minigpt.corpus.readers.encodings import (
    ENCODINGS,
    Decoded,
    EncodingFault,
    Preview,
    decode,
    fitting_encodings,
    known_encoding,
    likely_encoding,
    looks_like,
    preview,
)


def test_utf8_is_the_default_whatever_the_system(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "cp1252")
    assert decode("Ås a".encode()) == Decoded("Ås a", "utf-8", mark=False)


@pytest.mark.parametrize(
    ("content", "encoding", "sentence"),
    [
        (
            b"caf\xe9",
            "utf-8",
            "not UTF-8: 0xE9 at byte 3. It looks like cp1252 or latin-1. Choose its encoding",
        ),
        (
            "hi\n".encode("utf-16-le"),
            "utf-16",
            "its first byte is 0x68; choose utf-16-le or utf-16-be",
        ),
        (
            b"\xff\xfeh\0i\0\n\0",
            "utf-8",
            "not UTF-8: 0xFF at byte 0. It looks like UTF-16. Choose its encoding",
        ),
        (b"\xff\xfe\0\0h\0\0\0", "utf-8", "0xFF at byte 0. It looks like UTF-32"),
        (b"\xff\xfeh\0i\0", "latin-1", "x.txt is not latin-1: 0xFF at byte 0. It looks like UTF-16"),
        (b"\xef\xbb\xbfhi", "cp1252", "x.txt is not cp1252: 0xEF at byte 0. It looks like UTF-8"),
        (b"\xfe\xff\0h", "utf-16-le", "x.txt is not UTF-16-LE: 0xFE at byte 0. It looks like UTF-16"),
        (b"h\0i\0 \0y\0", "utf-8", "0x00 at byte 1. It looks like UTF-16 without a byte order mark (utf-16-le)"),
        (b"\0h\0i\0 \0y", "latin-1", "0x00 at byte 0. It looks like UTF-16 without a byte order mark (utf-16-be)"),
        ("法国".encode()[:-1], "utf-8", "0xE5 at byte 3. It looks like UTF-8 that was cut within a character"),
        ("法国".encode("gb18030"), "utf-8", "x.txt is not UTF-8: 0xB7 at byte 0; choose its encoding"),
        (
            b"PK\x03\x04\x14\0\x06\xf0",
            "utf-8",
            "0xF0 at byte 7. It looks like a zip archive, such as an xlsx",
        ),
        (b"\x89PNG\r\n", "utf-8", "0x89 at byte 0. It looks like a PNG picture"),
        (b"a\x81", "cp1252", "x.txt is not cp1252: 0x81 at byte 1"),
        (b"h\0i", "utf-16-le", "x.txt is not UTF-16-LE: 0x69 at byte 2"),
        (b"\x3d\xd8a\0", "utf-16-le", "x.txt is not UTF-16-LE: 0x3D at byte 0"),
        (b"a", "klingon", "encoding must be one of utf-8, utf-16, .*, got 'klingon'"),
        (b"a", "rot13", "encoding must be one of"),
        (b"a", "", "encoding must be one of"),
        (b"a", None, "encoding must be one of"),
    ],
)
def test_what_does_not_fit_is_one_sentence(content: bytes, encoding: str, sentence: str):
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(").replace(")", r"\)")) as caught:
        decode(content, encoding, "x.txt")
    assert "\n" not in str(caught.value)


def test_the_fault_can_be_asked_for_its_place():
    with pytest.raises(EncodingFault) as caught:
        decode(b"caf\xe9")
    assert (caught.value.offset, caught.value.byte, caught.value.likeness) == (3, 0xE9, looks_like(b"caf\xe9", 3))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_each_encoding_round_trips_and_keeps_every_mark_but_the_first(encoding: str):
    text = "plain text, 12\r\n\ttwo  "
    assert decode(text.encode(encoding), encoding).text == text
    if encoding.startswith("utf") or encoding == "gb18030":
        marked = "法\ufeff国\ufeff" if encoding in ("utf-16", "utf-32") else "\ufeff法\ufeff国\ufeff"
        assert decode(marked.encode(encoding), encoding) == Decoded("法\ufeff国\ufeff", encoding, mark=True)


def test_one_mark_is_removed_not_two():
    assert decode(b"\xef\xbb\xbf" * 2 + b"a").text == "\ufeffa"
    assert decode(b"\xef\xbb\xbf") == Decoded("", "utf-8", mark=True)
    assert decode(b"") == Decoded("", "utf-8", mark=False) and decode(b"", "utf-16").text == ""


def test_both_byte_orders_by_their_mark():
    for mark, order in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        for encoding in ("utf-16", order):
            assert decode(mark + "hi".encode(order), encoding) == Decoded("hi", encoding, mark=True)


def test_some_nuls_are_text():
    for text in ("a\0b", "\0", "red\0", "\0\0\0\0\0\0\0\0"):
        assert decode(text.encode()).text == text


@pytest.mark.parametrize("name", ["UTF8", "utf_8", "utf-8-sig", "Latin1", "ISO-8859-1", "GB18030", "shift-jis", "sjis"])
def test_other_spellings(name: str):
    assert known_encoding(name) in ENCODINGS


def test_encodings_to_choose_from():
    assert fitting_encodings(b"caf\xe9") == ("cp1251", "koi8_r", "cp1252", "latin-1")
    assert fitting_encodings(b"\xff\xfeh\0") == ("utf-16", "utf-16-le")
    chinese = fitting_encodings("法国的首都".encode("gb18030"))
    assert {"gb18030", "latin-1"} <= set(chinese) and "utf-8" not in chinese
    cut = ("法" * 100_000).encode()
    assert "utf-8" in fitting_encodings(cut), "a character may lie across the end of the part that is tried"


def test_preview_shows_what_an_encoding_gives():
    content = "法国\r\nab\u2028c\n".encode("gb18030") + b"x" * 500
    assert preview(content, "gb18030", lines=2).lines == ("法国", "ab\u2028c")
    assert preview(content, "gb18030").lines[2] == "x" * 120
    assert preview(content, "gb18030").fault is None
    found = preview(content, "utf-8")
    assert found.lines == ("",) and "0xB7 at byte 0" in str(found.fault)
    found = preview(b"one\ntwo\ncaf\xe9\nfour", "utf-8")
    assert found.lines == ("one", "two", "caf") and "0xE9 at byte 11" in str(found.fault)
    with pytest.raises(ValueError, match="encoding must be one of"):
        preview(b"a", "klingon")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "gb18030", "latin-1"])
def test_a_long_file_is_judged_by_its_beginning(encoding: str):
    text = "\ufeff" * (encoding == "utf-16-le") + "one line\r\n" * 40_000
    content = text.encode(encoding)
    assert preview(content, encoding, lines=2) == Preview(encoding, ("one line", "one line"), None)
    assert encoding in fitting_encodings(content)


def test_faults_in_the_beginning_of_a_long_file():
    content = b"one\ncaf\xe9\n" * 40_000
    assert preview(content, "utf-8").lines == ("one", "caf") and "0xE9 at byte 7" in str(
        preview(content, "utf-8").fault
    )
    assert preview(content, "latin-1").lines[1] == "café"
    wide = ("one\n" * 80_000).encode("utf-16-le")
    assert "0x00 at byte 1. It looks like UTF-16" in str(preview(wide, "cp1252").fault)
    assert fitting_encodings(wide) == ("utf-16-le",)


def test_nothing_is_evident_in_nothing():
    assert looks_like(b"") is looks_like(b"\x80\x81") is None


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"caf\xe9", "cp1252"),
        (b"caf\xe9 \x81", ""),  # a control character in both
        ("один два".encode("cp1251"), ""),
        ("he said".encode("utf-16-le"), "utf-16-le"),
        ("he said".encode("utf-16"), "utf-16"),
        (b"plain", "utf-8"),
        (b"", "utf-8"),
        (b"PK\x03\x04\xff", ""),
    ],
)
def test_the_likely_encoding_is_one_in_which_the_bytes_are_text(content: bytes, name: str):
    assert likely_encoding(content) == name
