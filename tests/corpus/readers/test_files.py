"""Files of each format: texts to the letter, every fault with file, place and reason, nothing lost on the way."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from minigpt.corpus.corpus import Record
from minigpt.corpus.library import bundled_corpus
from minigpt.corpus.readers.encodings import EncodingFault
from minigpt.corpus.readers.files import ReadOptions, longest_column, read_corpus, read_file
from minigpt.corpus.readers.lines import LineEnds
from minigpt.corpus.readers.read_result import ColumnMissing, ReadResult

AWKWARD = [
    "NA", "007", "null", "1e5", " two  spaces ", "e\u0301 \u00e9", "😀", "in\ufeffside", "nul\0here", "a\u2028b",
    "Press <|eos|> to stop", "tab\there", '"quoted"', "it's, with; signs|", "法国的首都叫巴黎。", "\u200bzero", "=1+1",
]  # fmt: skip
MULTILINE = ["a\nb", "a\r\nb", "a\rb", "\nfirst", "last\n"]


def read(content, file: str, **options) -> ReadResult:
    """Read a text or bytes."""
    return read_corpus(content if isinstance(content, bytes) else content.encode(), file, ReadOptions(**options))


def texts(reading: ReadResult) -> list[str]:
    return [record.text for record in reading.records]


def cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# Texts to the letter.


def test_plain_lines_to_the_letter():
    reading = read("\n".join(AWKWARD), "a.txt")
    assert texts(reading) == AWKWARD
    assert (reading.found, reading.used, reading.format) == (len(AWKWARD), len(AWKWARD), "txt")
    assert reading.notes == (
        "1 text holds the character U+0000 (NUL), which is kept: line 9",
        "1 text holds the character U+FEFF (byte order mark), which is kept: line 8",
    )


@pytest.mark.parametrize("quoted", [True, False])
def test_table_to_the_letter(quoted: bool):
    rows = [cell(text) for text in AWKWARD + MULTILINE] if quoted else [t for t in AWKWARD if not set(t) & {",", '"'}]
    reading = read("id,text\n" + "".join(f"{i},{row}\n" for i, row in enumerate(rows)), "a.csv")
    assert texts(reading) == (AWKWARD + MULTILINE if quoted else rows)
    assert (reading.columns, reading.column, reading.faults) == (("id", "text"), "text", ())


@pytest.mark.parametrize("escaped", [True, False])
def test_json_to_the_letter(escaped: bool):
    all_texts = AWKWARD + MULTILINE
    lines = "".join(json.dumps({"text": text}, ensure_ascii=escaped) + "\n" for text in all_texts)
    assert texts(read(lines, "a.jsonl")) == all_texts
    assert texts(read(json.dumps(all_texts, ensure_ascii=escaped), "a.json")) == all_texts
    objects = json.dumps([{"n": text} for text in all_texts], ensure_ascii=escaped, indent=1)
    assert texts(read(objects, "a.json", column="n")) == all_texts


def test_one_continuous_text_to_the_letter():
    text = "\n".join(AWKWARD) + "\r\n\r\n  "
    reading = read(text, "a.txt", continuous=True)
    assert reading.records == (Record("text", text),)
    assert (reading.continuous, reading.found, reading.line_ends) == (True, 1, LineEnds(lf=len(AWKWARD) - 1, crlf=2))


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.json", "own.json"])
def test_a_byte_order_mark_is_no_text(name: str):
    contents = {"a.txt": "one\n", "a.csv": "text\none\n", "a.jsonl": '"one"\n', "a.json": '["one"]'}
    content = contents.get(name, '{"train": ["one"]}')
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        reading = read(("\ufeff" + content).encode(encoding), name, encoding=encoding)
        assert texts(reading) == ["one"] and reading.mark
    assert texts(read(content.encode("utf-16"), name, encoding="utf-16")) == ["one"]


def test_what_a_reading_says_of_its_file():
    content = b"\xef\xbb\xbfone\r\n\r\n two \r\nthree"
    reading = read(content, "my poems.v2.TXT")
    assert reading.records == (Record("line-1", "one"), Record("line-3", " two "), Record("line-4", "three"))
    assert (reading.file, reading.name) == ("my poems.v2.TXT", "my poems.v2")
    assert (reading.encoding, reading.size) == ("utf-8", len(content))
    assert reading.content_hash == hashlib.sha256(content).hexdigest()[:16]
    assert (reading.empty, reading.line_ends, reading.validation) == (("line 2",), LineEnds(crlf=3), None)
    assert (reading.found, reading.used) == (4, 3)


def test_equal_names_with_other_bytes_have_other_hashes():
    assert read("a", "c.txt").content_hash != read("b", "c.txt").content_hash


# Empty records.


@pytest.mark.parametrize("blank", ["", " ", "\t \u3000", "\u2028"])
def test_empty_records_are_counted_and_named(blank: str):
    quoted = json.dumps(blank)
    for content, name, places in (
        (f"a\n{blank}\nb", "a.txt", ("line 2",)),
        (f"text,n\na,1\n{blank},2\n\nb,3\n", "a.csv", ("line 3", "line 4")),
        (f'"a"\n{quoted}\n\n{{"text": {quoted}}}\n"b"\n', "a.jsonl", ("line 2", "line 3", "line 4")),
        (f'["a", {quoted}, "b"]', "a.json", ("record 2",)),
    ):
        reading = read(content, name)
        assert (texts(reading), reading.empty, reading.faults) == (["a", "b"], places, ())
    own = read(f'{{"train": ["a", {quoted}], "validation": [{quoted}, "b"]}}', "own.json")
    assert own.empty == ("train record 2", "validation record 1")
    assert own.records == (Record("train-01", "a"),) and own.validation == (Record("validation-02", "b"),)


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        ("", "a.txt", r"a.txt has no usable records: it is empty \(0 bytes\)"),
        ("", "a.json", r"a.json has no usable records: it is empty \(0 bytes\)"),
        ("", "a.csv", "a.csv has no usable records: its first line must name the columns, and it is empty"),
        ("\ufeff", "a.txt", "no usable records: it holds none at all"),
        (" \n\n\t\r\n", "a.txt", "no usable records: it holds only white space"),
        ("\n \n", "a.jsonl", "no usable records"),
        ("text\n", "a.csv", "no usable records"),
        ("text\n\n  \n", "a.csv", "no usable records"),
        (" \n", "a.json", "no usable records"),
        ("[]", "a.json", "no usable records"),
        ('["", " "]', "a.json", "no usable records"),
        ('{"train": [], "validation": []}', "a.json", "no usable records"),
    ],
)
def test_nothing_to_train_on(content: str, name: str, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        read(content, name)
    if name == "a.txt":
        with pytest.raises(ValueError, match="a.txt has no usable records"):
            read(content, name, continuous=True)


# Columns and fields.


@pytest.mark.parametrize(
    ("content", "sentence", "columns"),
    [
        ("id,content\n1,x\n", "a.csv: column 'text' not found; columns: id, content", ("id", "content")),
        ("Text ,n\nx,1\n", "column 'text' not found; columns: 'Text ', n", ("Text ", "n")),
        ("\ufeff\ufefftext,n\nx,1\n", r"column 'text' not found; columns: '\\ufefftext', n", ("\ufefftext", "n")),
        ("id;text\n1;x\n", "column 'text' not found; columns: id;text", ("id;text",)),
        ('",",text \n', "columns: ',', 'text '", (",", "text ")),
    ],
)
def test_a_missing_column_is_never_another_one(content: str, sentence: str, columns: tuple[str, ...]):
    with pytest.raises(ColumnMissing, match=sentence) as caught:
        read(content, "a.csv")
    assert caught.value.columns == columns


def test_the_column_that_is_chosen():
    content = 'id,content,"the ""text"""\n1,x,y\n'
    assert texts(read(content, "a.csv", column="content")) == ["x"]
    assert texts(read(content, "a.csv", column='the "text"')) == ["y"]


@pytest.mark.parametrize("header", ["text,text", "n,text,n"])
def test_two_columns_of_one_name(header: str):
    with pytest.raises(ValueError, match="a.csv has 2 columns named '(text|n)'; names must differ"):
        read(header + "\n1,2\n", "a.csv")


def test_columns_without_a_name_are_no_fault():
    assert texts(read(",text,\n0,a,\n", "a.csv")) == ["a"]


@pytest.mark.parametrize(
    ("name", "delimiter", "sign"),
    [
        ("a.csv", "semicolon", ";"),
        ("a.csv", "tab", "\t"),
        ("a.csv", "pipe", "|"),
        ("a.tsv", None, "\t"),
        ("a.tsv", "comma", ","),
    ],
)
def test_delimiters(name: str, delimiter: str | None, sign: str):
    assert texts(read(f"n{sign}text\n1{sign}a b\n", name, delimiter=delimiter)) == ["a b"]


def test_a_missing_field_names_those_that_are_there():
    for content, name in (('{"id": 1, "body": "x"}\n{"id": 2}\n', "a.jsonl"), ('[{"id": 1, "body": "x"}]', "a.json")):
        with pytest.raises(ColumnMissing, match=f"{name}: field 'text' not found; fields: body, id") as caught:
            read(content, name)
        assert caught.value.columns == ("body", "id")
    assert texts(read('{"id": 1, "body": "x"}\n', "a.jsonl", column="body")) == ["x"]


# Ids.


def test_ids_of_the_file_serve_when_all_differ():
    assert read('{"id": 7, "text": "a"}\n{"id": "x", "text": "b"}\n', "a.jsonl").records == (
        Record("7", "a"),
        Record("x", "b"),
    )
    for second in ('{"id": "7", "text": "b"}', '"b"', '{"text": "b"}', '{"id": null, "text": "b"}'):
        reading = read(f'[{{"id": 7, "text": "a"}}, {second}]', "a.json")
        assert [record.id for record in reading.records] == ["record-1", "record-2"]
        assert reading.notes == ("some records have no id, or the same one: all are named by their place in the file",)


def test_a_record_of_many_lines_is_named_by_its_first():
    reading = read('text\n"a\n\nb"\nc\n', "a.csv")
    assert reading.records == (Record("line-2", "a\n\nb"), Record("line-5", "c"))


# Faults of single records.


@pytest.mark.parametrize(
    ("content", "name", "fault"),
    [
        ("text,n\n1,2,3\nok,1\n", "a.csv", "a.csv, line 2: it has 3 cells, the header has 2"),
        ("text,n\nok,1\n1\n", "a.csv", "a.csv, line 3: it has 1 cell, the header has 2"),
        ('text,n\n"a"b,1\nok,1\n', "a.csv", "a.csv, line 2: a quoted cell goes on after its closing quote"),
        ("text,n\na\rb,1\nok,1\n", "a.csv", "a.csv, line 2: it holds a carriage return outside quotes"),
        ('"ok"\nnot json\n', "a.jsonl", "a.jsonl, line 2: this is not JSON: Expecting value \\(column 1\\)"),
        ('{"text": "a"\n"ok"', "a.jsonl", "a.jsonl, line 1: this is not JSON: Expecting ',' delimiter \\(column 13\\)"),
        ('"ok"\n"a" "b"\n', "a.jsonl", "line 2: this is not JSON: Extra data \\(column 5\\)"),
        ('"ok"\n"a\tb"\n', "a.jsonl", "line 2: this is not JSON: Invalid control character at"),
        ('"ok"\n5\n', "a.jsonl", "line 2: it must be a text or an object with 'text', got 5"),
        ('"ok"\nnull\n', "a.jsonl", "line 2: it must be a text or an object with 'text', got null"),
        ('"ok"\n["a"]\n', "a.jsonl", r"""line 2: it must be a text or an object with 'text', got \["a"\]"""),
        ('"ok"\n{"id": 3, "content": "x"}\n', "a.jsonl", "line 2: it has no field 'text'; fields: content, id"),
        ('"ok"\n{}\n', "a.jsonl", "line 2: it has no field 'text'; fields: -"),
        ('"ok"\n{"text": null}\n', "a.jsonl", "line 2: its field 'text' must be a text, got null"),
        ('"ok"\n{"text": 7}\n', "a.jsonl", "line 2: its field 'text' must be a text, got 7"),
        ('"ok"\n{"text": true}\n', "a.jsonl", "line 2: its field 'text' must be a text, got true"),
        ('"ok"\n{"text": NaN}\n', "a.jsonl", "line 2: its field 'text' must be a text, got NaN"),
        ('"ok"\n{"text": "a", "text": "b"}\n', "a.jsonl", "line 2: it names the field 'text' more than once"),
        ('"ok"\n"a\\ud83d"\n', "a.jsonl", r"line 2: it has an unpaired surrogate, U\+D83D at index 1"),
        (
            '"ok"\n{"id": "\\udc00", "text": "a"}\n',
            "a.jsonl",
            r"in its id, it has an unpaired surrogate, U\+DC00",
        ),
        ('["ok", "\\ude00"]', "a.json", r"a.json, record 2: it has an unpaired surrogate, U\+DE00 at index 0"),
        ('["ok", 5]', "a.json", "a.json, record 2: it must be a text or an object with 'text', got 5"),
        ('{"train": ["ok", 5]}', "a.json", "a.json, train record 2: it must be a text"),
        ('{"train": ["ok"], "validation": ["\\ud800"]}', "a.json", "validation record 1: it has an unpaired surrogate"),
        ('"ok"\n' + "[" * 100_000, "a.jsonl", "line 2: this JSON cannot be used: .* are nested too deeply"),
        ('"ok"\n' + "9" * 5000, "a.jsonl", "line 2: this JSON cannot be used: it holds a number with too many digits"),
    ],
)
def test_a_fault_has_file_place_and_reason(content: str, name: str, fault: str):
    reading = read(content, name)
    assert texts(reading) == ["ok"] and len(reading.faults) == 1 and reading.found == 2
    assert re.search(fault, str(reading.faults[0])) and "\n" not in str(reading.faults[0])


def test_a_whole_pair_of_halves_is_one_character():
    assert texts(read('"\\ud83d\\ude00"\n', "a.jsonl")) == ["😀"]


def test_rows_after_a_broken_one_are_read():
    reading = read('text\na\n"b"c\nd\n"e"f\ng\n', "a.csv")
    assert texts(reading) == ["a", "d", "g"]
    assert [fault.place for fault in reading.faults] == ["line 3", "line 5"]


# Faults of the whole file.


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        ('text\na\n"b\nc\nd\n', "a.csv", "a.csv, line 3: a quote that opens in this row is never closed"),
        ("\ntext\na\n", "a.csv", "no usable records: its first line must name the columns, and it is empty"),
        ("[1,\n2", "a.json", "a.json: this is not JSON: Expecting ',' delimiter \\(line 2, column 2\\)"),
        ('"a"\n"b"\n', "a.json", "Extra data .line 2, column 1.; one value a line is the format jsonl"),
        ("[" * 100_000, "a.json", "a.json: this JSON cannot be used: its lists and objects are nested too deeply"),
        ('"text"', "a.json", "a.json must hold a list of records, or an object with 'train', got .text"),
        ('{"data": ["a"]}', "a.json", "an object with 'train', got an object with the fields: data"),
        ('{"train": "abc"}', "a.json", "a.json: 'train' must be a list of records, got .abc"),
        ('{"train": ["a"], "validation": null}', "a.json", "'validation' must be a list of records, got null"),
        ('{"train": ["a"], "train": ["b"]}', "a.json", "a.json names 'train' more than once"),
        ('{"train": ["a"], "version": "\\ud800"}', "a.json", "a.json, version: it has an unpaired surrogate"),
        ('{"train": [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}]}', "a.json", "uses the record id '1' 2 times"),
        ('[\n"a",\n"b"\n]', "a.jsonl", "a.jsonl begins with a line '\\[': one array of all records is the format json"),
        ("x", "notes.docx", "the name of notes.docx does not tell its format: it must end in .txt"),
        ("x", "notes", "the name of notes does not tell its format"),
    ],
)
def test_what_is_wrong_with_a_file_as_a_whole(content: str, name: str, sentence: str):
    with pytest.raises(ValueError, match=sentence) as caught:
        read(content, name)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text():
    for name in ("a.txt", "a.csv", "a.jsonl", "a.json"):
        with pytest.raises(EncodingFault, match=f"{name} is not UTF-8: 0xE9 at byte 3"):
            read(b"caf\xe9", name)
    assert texts(read(b"caf\xe9", "a.txt", encoding="latin-1")) == ["café"]


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("a.txt", {"column": "text"}, "column is for csv, jsonl, json files, and a.txt is read as txt"),
        ("a.txt", {"delimiter": "tab"}, "delimiter is for csv files, and a.txt is read as txt"),
        ("a.csv", {"continuous": True}, "continuous is for txt files, and a.csv is read as csv"),
        ("a.json", {"delimiter": "comma"}, "delimiter is for csv files, and a.json is read as json"),
        ("a.jsonl", {"format": "txt", "column": "a"}, "column is for .* files, and a.jsonl is read as txt"),
    ],
)
def test_options_that_do_not_apply_are_refused(name: str, options: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        read('["a"]', name, **options)


@pytest.mark.parametrize("options", [{"format": "xml"}, {"delimiter": ","}, {"continuous": "yes"}, {"encoding": "x"}])
def test_unknown_options(options: dict):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be one of"):
        read("text\na", "a.csv", **options)


def test_a_format_that_is_chosen():
    assert texts(read('"a"\n', "log.txt", format="jsonl")) == ["a"]
    assert texts(read("a\nb", "README", format="txt")) == ["a", "b"]


# The project's own format.


def test_the_bundled_corpus(data: Path):
    reading, bundled = read_file(data / "mini-gpt" / "corpus.json"), bundled_corpus()
    assert (reading.format, reading.name) == ("corpus", bundled.name)
    assert (reading.records, reading.validation) == (bundled.train, bundled.validation)


# Limits, before work starts.


def test_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("MINIGPT_UPLOAD_BYTES", "6")
    assert texts(read("a\nb\nc\n", "a.txt")) == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"a.txt has 7 bytes, at most 6 are read \(MINIGPT_UPLOAD_BYTES\)"):
        read("a\nb\nc\n\n", "a.txt")
    (tmp_path / "big.txt").write_bytes(b"a" * 7)
    with pytest.raises(ValueError, match="big.txt has 7 bytes"):
        read_file(tmp_path / "big.txt")
    monkeypatch.setenv("MINIGPT_UPLOAD_BYTES", "1000")
    monkeypatch.setenv("MINIGPT_CORPUS_RECORDS", "2")
    files = {"a.txt": "a\nb\n", "a.csv": "text\na\nb\n", "a.jsonl": '"a"\n"b"\n', "a.json": '["a", "b"]'}
    for name, content in files.items():
        assert texts(read(content, name)) == ["a", "b"]
        with pytest.raises(ValueError, match=f"{name} has more than 2 records, the limit MINIGPT_CORPUS_RECORDS"):
            read(content.replace('"]', '", "c"]') + ("" if name == "a.json" else '"c"\n'), name)
    files = {"a.txt": "\n\n\n", "a.csv": "text\n\n1,2\n\n", "a.jsonl": "x\n\n5", "a.json": '["", 5, {}]'}
    for name, content in files.items():
        with pytest.raises(ValueError, match="has more than 2 records"):  # empty and faulty ones are records too
            read(content, name)


def test_a_megabyte_without_a_line_end():
    text = "a" * 1_000_000
    assert texts(read(text, "a.txt")) == texts(read(text, "a.txt", continuous=True)) == [text]
    assert texts(read(f"text,n\n{text},1\n", "a.csv")) == [text]


def test_a_table_of_a_hundred_thousand_lines():
    rows = [f'{i},"row {i}, ""quoted"""\n' for i in range(100_000)]
    rows[499], rows[77_777] = "5\n", '7,"  "\n'
    reading = read("id,text\n" + "".join(rows), "a.csv")
    assert (reading.found, reading.used) == (100_000, 99_998)
    assert reading.records[0] == Record("line-2", 'row 0, "quoted"')
    assert reading.records[-1] == Record("line-100001", 'row 99999, "quoted"')
    assert [str(fault) for fault in reading.faults] == ["a.csv, line 501: it has 1 cell, the header has 2"]
    assert reading.empty == ("line 77779",)


@pytest.mark.parametrize("line", ["a line of twenty-eight bytes\n", "天地玄黄宇宙洪荒日月盈昃\r\n"])
def test_twenty_megabytes(line: str):
    content = line.encode() * (20_000_000 // len(line.encode()))
    lines = read(content, "a.txt")
    assert lines.used == len(content) // len(line.encode()) and {*texts(lines)} == {line.strip()}
    assert read(content, "a.txt", continuous=True).records[0].text.encode() == content


def test_files_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(ValueError, match="there is no corpus file .*none.txt"):
        read_file(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="cannot be read"):
        read_file(tmp_path)


@pytest.mark.parametrize(
    ("content", "file", "column"),
    [
        ("id,content\n1,the red key\n2\n", "a.csv", "content"),
        ("a,b\n11,22\n", "a.csv", "a"),
        ("a,b\n", "a.csv", None),
        ('a,b\n1,"open\n', "a.csv", None),
        ('{"id": 7, "body": "the red key", "k": "x"}\n', "a.jsonl", "body"),
        ("[1]\n", "a.jsonl", None),
        ("text", "a.txt", None),
    ],
)
def test_the_column_of_the_longest_texts_is_named(content: str, file: str, column: str | None):
    assert longest_column(content.encode(), file) == column
