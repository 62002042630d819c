"""A corpus taken away and read again is the same."""

import pytest

from minigpt.corpus.corpus import Record
from minigpt.corpus.prepared import to_jsonl, to_txt
from minigpt.corpus.readers.files import read_corpus
from minigpt.corpus.splitting import split_records

RECORDS = (Record("a", "one  "), Record("b 2", "two\u2028\u00e9"), Record("7", "\ufeffthree <|eos|>"))
MANY_LINES = Record("m", "a\nb\r\nc")


def test_json_lines_keep_ids_and_texts():
    records = (*RECORDS, MANY_LINES, Record("q", '"\\\0'))
    assert read_corpus(to_jsonl(records).encode(), "a.jsonl").records == records


def test_plain_lines_keep_texts():
    read = read_corpus(to_txt(RECORDS).encode(), "a.txt").records
    assert [record.text for record in read] == [record.text for record in RECORDS]


@pytest.mark.parametrize("text", ["a\nb", "a\r", " ", "\ufeffa"])
def test_plain_lines_refuse_what_would_not_come_back(text: str):
    with pytest.raises(ValueError, match="record x .* choose JSON Lines"):
        to_txt([Record("x", text)])


def test_the_own_format_keeps_the_split():
    made = split_records(read_corpus("".join(f"line {i}\n" for i in range(20)).encode(), "poems.txt"))
    again = split_records(read_corpus(made.corpus.to_json().encode(), "other name.json"))
    assert again.corpus == made.corpus and again.corpus.hash == made.corpus.hash and again.kind == "file"
