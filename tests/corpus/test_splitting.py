"""The split: no validation text stands in training, equal seeds split alike, and every record is accounted for."""

import pytest

from minigpt.corpus.corpus import Record
from minigpt.corpus.library import bundled_corpus
from minigpt.corpus.readers.files import ReadOptions, read_corpus
from minigpt.corpus.readers.read_result import FaultyRecords, ReadResult
from minigpt.corpus.splitting import CorpusSplit, SplitOptions, split_records

REPEATED = [f"line {i}" for _ in range(10) for i in range(10)]


def lines(*texts: str) -> ReadResult:
    return read_corpus("".join(text + "\n" for text in texts).encode(), "a.txt")


def split(reading: ReadResult, **options) -> CorpusSplit:
    return split_records(reading, SplitOptions(**options))


def sides(made: CorpusSplit) -> tuple[set[str], set[str]]:
    return {r.text for r in made.corpus.train}, {r.text for r in made.corpus.validation}


def whole(text: str) -> ReadResult:
    return read_corpus(text.encode(), "a.txt", ReadOptions(continuous=True))


# Groups of identical texts.


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("variants", [("", ""), ("", "  ", "\t", "\u3000")])
def test_a_text_is_on_one_side_only(seed: int, variants: tuple[str, ...]):
    """Ten lines ten times each, as they are and with white space at their end."""
    reading = lines(*(text + variants[i % len(variants)] for i, text in enumerate(REPEATED)))
    made = split(reading, share=0.1, seed=seed)
    train, validation = sides(made)
    assert not {text.rstrip() for text in train} & {text.rstrip() for text in validation}
    assert (len(made.corpus.train), len(made.corpus.validation)) == (90, 10)
    assert (made.distinct, made.duplicates, made.dropped, made.leaked) == (10, 90, 0, 0)


def test_only_the_first_of_each_text():
    made = split(lines(*REPEATED), duplicates="drop", seed=1)
    assert (len(made.corpus.train), len(made.corpus.validation)) == (9, 1)
    assert (made.distinct, made.duplicates, made.dropped, made.leaked) == (10, 90, 90, 0)
    ids = {int(record.id.removeprefix("line-")) for record in made.corpus.train + made.corpus.validation}
    assert ids == set(range(1, 11))


def test_without_grouping_what_leaks_is_counted():
    made = split(lines(*REPEATED), duplicates="apart", share=0.3)
    train, validation = sides(made)
    assert (len(made.corpus.train), len(made.corpus.validation)) == (70, 30)
    assert made.leaked == sum(record.text in train for record in made.corpus.validation) > 0
    assert (made.duplicates, made.dropped) == (90, 0)
    assert split(lines("a", "b", "c", "d"), duplicates="apart", share=0.5).leaked == 0


def test_white_space_at_the_end_can_count():
    reading = lines("a", "a ", "a  ", "b")
    assert split(reading).distinct == 2
    exact = split(reading, ignore_trailing_space=False, share=0.5)
    assert (exact.distinct, exact.duplicates) == (4, 0)
    assert {record.text for record in exact.corpus.train + exact.corpus.validation} == {"a", "a ", "a  ", "b"}
    assert split(lines(" a", "a")).distinct == 2, "white space in front is text"


def test_records_keep_their_order_and_ids():
    made = split(lines(*(f"text {i}" for i in range(50))), share=0.2, seed=3)
    for part in (made.corpus.train, made.corpus.validation):
        numbers = [int(record.id.removeprefix("line-")) for record in part]
        assert numbers == sorted(numbers)
        assert all(record.text == f"text {number - 1}" for record, number in zip(part, numbers, strict=True))
    assert len(made.corpus.validation) == 10


# The seed.


def test_the_seed_decides_and_nothing_else():
    texts = [f"text {i}" for i in range(40)]
    chosen = [sides(split(lines(*texts), seed=seed))[1] for seed in range(20)]
    assert chosen[0] == sides(split(lines(*reversed(texts)), seed=0))[1], "the order of the file does not"
    assert len({frozenset(part) for part in chosen}) > 15
    assert len(set().union(*chosen)) > 30, "over many seeds nearly every text validates once"


def test_the_choice_of_a_seed_is_fixed_for_good():
    """Published: a change would make every split of every user another one."""
    assert sides(split(lines(*"abcdefghij"), seed=0, share=0.3))[1] == set("afh")


def test_an_added_record_moves_no_other():
    texts = [f"text {i}" for i in range(100)]
    before = sides(split(lines(*texts), share=0.1))[1]
    after = sides(split(lines("new", *texts), share=0.1))[1]
    assert len(before - after) <= 1


# Shares and their ends.


@pytest.mark.parametrize(
    ("texts", "share", "validation", "why"),
    [
        (["a"], 0.1, 0, "a share of 0.1 of 1 record is less than half a record"),
        (["a"], 0.9, 0, "there is only one text, and it is for training"),
        (["a", "a", "a "], 0.9, 0, "there is only one text, and it is for training"),
        (["a", "b", "c", "d"], 0.1, 0, "a share of 0.1 of 4 records is less than half a record"),
        (list("abcde"), 0.1, 1, None),
        (["a", "b"], 0.5, 1, None),
        (["a", "b"], 0.99, 1, None),
        (list("abcdefghij"), 0.99, 9, None),
        (["a", "b"], 0, 0, "a share of 0 was asked for"),
        (["a"] * 9 + ["b"], 0.1, 1, None),
        (["a"] * 6 + ["b"] * 4, 0.1, 4, None),
    ],
)
def test_few_records(texts: list[str], share: float, validation: int, why: str):
    """A group that is larger than the share waits; when none fits, the smallest one validates."""
    made = split(lines(*texts), share=share)
    assert (len(made.corpus.validation), made.no_validation) == (validation, why)
    assert len(made.corpus.train) == len(texts) - validation > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"share": 1}, "the share of validation records must be a finite number of at least 0 and below 1, got 1"),
        ({"share": -0.1}, "at least 0 and below 1, got -0.1"),
        ({"share": float("nan")}, "at least 0 and below 1, got nan"),
        ({"share": "0.1"}, "at least 0 and below 1, got '0.1'"),
        ({"seed": -1}, "the seed of the split must be a whole number from 0"),
        ({"seed": 2**63}, "the seed of the split must be a whole number from 0"),
        ({"seed": 1.5}, "the seed of the split must be a whole number from 0"),
        ({"duplicates": "keep"}, "duplicates must be one of together, drop, apart, got 'keep'"),
    ],
)
def test_wrong_options(options: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        SplitOptions(**options)


def test_the_greatest_seed():
    assert len(split(lines(*"abcde"), seed=2**63 - 1).corpus.validation) == 1


# Records at fault.


def test_nobody_goes_on_without_a_record_unasked():
    reading = read_corpus(b'"a"\n5\n"b"\nx\n', "a.jsonl")
    with pytest.raises(FaultyRecords, match="line 2: .* got 5, and 1 more faulty record; fix the file") as caught:
        split(reading)
    assert caught.value.faults == reading.faults and len(reading.faults) == 2
    made = split(reading, skip_faults=True)
    assert [record.text for record in made.corpus.train] == ["a", "b"] and made.without == 2


def test_faults_alone_are_no_corpus():
    reading = read_corpus(b"5\n6\n", "a.jsonl")
    with pytest.raises(ValueError, match="no usable records to train on"):
        split(reading, skip_faults=True)


# The split that a file brings.

OWN = b'{"version": "v", "train": ["a", "b", "a"], "validation": ["b ", "c", "a"]}'


def test_the_split_of_the_file():
    made = split(read_corpus(OWN, "own.json"))
    assert (made.kind, made.leaked, made.distinct, made.duplicates) == ("file", 2, 3, 3)
    assert made.corpus.name == "v"
    assert [record.text for record in made.corpus.validation] == ["b ", "c", "a"]
    assert split(read_corpus(OWN, "own.json"), ignore_trailing_space=False).leaked == 1


def test_the_bundled_corpus_is_the_same_either_way(data):
    content = (data / "mini-gpt" / "corpus.json").read_bytes()
    made = split(read_corpus(content, "corpus.json"))
    assert made.corpus == bundled_corpus() and made.corpus.hash == bundled_corpus().hash
    assert (made.share, made.leaked, made.duplicates) == (0.25, 0, 0)


def test_a_file_can_be_split_again():
    reading = read_corpus(OWN, "own.json")
    with pytest.raises(ValueError, match="own.json brings its own validation records .3.: leave the share out"):
        split(reading, share=0.2)
    made = split(reading, resplit=True, share=0.4)
    assert (made.kind, made.leaked) == ("records", 0)
    assert len(made.corpus.train + made.corpus.validation) == 6


def test_a_file_that_names_no_validation_records():
    reading = read_corpus(b'{"train": ["a", "b"]}', "own.json")
    made = split(reading)
    assert (made.kind, made.corpus.validation) == ("file", ())
    assert made.no_validation == "own.json names no validation records"
    assert len(split(reading, share=0.5).corpus.validation) == 1


# One continuous text.


def check_cut(text: str, made: CorpusSplit) -> str:
    """The validation text, when the two parts together are the text."""
    (train,), (validation,) = made.corpus.train, made.corpus.validation
    assert train.text + validation.text == text and made.kind == "continuous"
    assert abs(len(validation.text) - made.share * len(text)) <= made.share * len(text) / 4 + 1
    return validation.text


def test_cut_between_paragraphs_before_lines():
    text = "word word\n" * 85 + "\n" + "word word\n" * 15
    made = split(whole(text))
    assert check_cut(text, split(whole(text), share=0.15)).count("word") == 30
    assert made.cut == "The text is cut after 901 of 1,001 characters, at line 92. The cut is between two lines.", (
        "the paragraph is too far off"
    )
    assert split(whole(text), share=0.14).cut == (
        "The text is cut after 851 of 1,001 characters, at line 87. The cut is between two paragraphs."
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_cut_after_a_line_end(end: str):
    text = f"some line{end}" * 100
    assert check_cut(text, split(whole(text))) == f"some line{end}" * 10
    paragraphs = f"some line{end}{end}" * 100
    made = split(whole(paragraphs))
    assert made.cut.endswith("The cut is between two paragraphs.") and made.corpus.validation[0].text.startswith("some")


def test_a_line_is_cut_only_when_it_is_long():
    for piece, border in (("word ", "two words"), ("天地玄黄。", "two words"), ("a", "two characters")):
        text = piece * (5000 // len(piece))
        made = split(whole(text))
        assert made.cut.startswith("The text is cut after 4,500 of 5,000 characters, at line 1.")
        assert made.cut.endswith(f"The cut is within a line, between {border}.")
        assert check_cut(text, made) == piece * (500 // len(piece))
        short = split(whole(piece * 3))
        assert short.corpus.train[0].text == piece * 3 and not short.corpus.validation
        assert short.no_validation.startswith(f"a text of {3 * len(piece)} characters has no border between two lines")


def test_neither_part_is_blank():
    text = "word " * 300 + "\n" * 300
    made = split(whole(text))
    assert not made.corpus.validation and "has no border" in made.no_validation
    assert split(whole("\n" * 95 + "word\n" * 2)).corpus.validation == ()


def test_no_share_of_a_text():
    made = split(whole("a\nb\n" * 100), share=0)
    assert made.corpus.train == (Record("text", "a\nb\n" * 100),)
    assert made.no_validation == "a share of 0 was asked for"
