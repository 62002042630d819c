"""What reading a file gave: its records, and everything in it that is not a record, each counted and placed.

Nothing is lost on the way: `found` = `records` + `validation` + `empty` + `faults`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from minigpt.corpus.corpus import Record, unpaired_surrogate
from minigpt.corpus.readers.lines import LineEnds
from minigpt.limits import limit
from minigpt.sentences import Refusal, Sentence, say, say_count

SHOWN = 3  # places that a sentence names; it counts the others
_INVISIBLE = {"\0": "U+0000 (NUL)", "\ufeff": "U+FEFF (byte order mark)", "\r": "U+000D (carriage return)"}


@dataclass(frozen=True)
class Kind:
    """What a format's records are: `place(number)` names one for people, `prefix-number` is its id."""

    prefix: str
    place: Callable[[int], Sentence]


LINE = Kind("line", lambda number: say("line {number}", number=number))
RECORD = Kind("record", lambda number: say("record {number}", number=number))
TEXT = Kind("", lambda number: say("the text"))  # all of a file, one record with the id "text"
TRAIN_RECORD = Kind("train-record", lambda number: say("train record {number}", number=number))
VALIDATION_RECORD = Kind("validation-record", lambda number: say("validation record {number}", number=number))


@dataclass(frozen=True)
class Fault:
    """One record that cannot be used: its place in which file, and why."""

    file: str
    place: Sentence  # "line 3", "record 3" or "train record 3"
    reason: Sentence

    @property
    def sentence(self) -> Sentence:
        return say("{file}, {place}: {reason}", file=self.file, place=self.place, reason=self.reason)

    def __str__(self) -> str:
        return str(self.sentence)


@dataclass(frozen=True)
class ReadResult:
    """A file, read once. Texts are kept exactly: nothing is trimmed, normalized or cut.

    A record that holds nothing, or white space alone, does not count: its place is in `empty`. One that
    cannot be read is in `faults`; whoever makes a corpus of the others has to agree to go on without it.
    `validation` is None unless the file brings its own split.
    """

    file: str  # its name, without folders
    name: str  # of the corpus: the file's name without its ending, or the version that it states
    format: str  # "txt", "csv", "jsonl", "json" or "corpus", the project's own
    encoding: str
    mark: bool  # a byte order mark was removed
    size: int  # bytes
    content_hash: str  # 16 hex digits of the SHA-256 of the bytes
    records: tuple[Record, ...]  # all of them, or those the file names for training
    validation: tuple[Record, ...] | None
    empty: tuple[Sentence, ...]  # places
    faults: tuple[Fault, ...]
    line_ends: LineEnds | None  # None where line ends are not text, as in JSON
    continuous: bool  # one text, to be read in windows
    column: str | None  # that holds the texts, for csv and objects
    columns: tuple[str, ...]  # of a csv, in order
    notes: tuple[Sentence, ...]  # what else is worth a look: kept NULs, ids that were not usable

    @property
    def found(self) -> int:
        """Records in the file, usable or not."""
        return self.used + len(self.empty) + len(self.faults)

    @property
    def used(self) -> int:
        """Records that can be used."""
        return len(self.records) + len(self.validation or ())


class ColumnMissing(Refusal):
    """The wanted column or field is not there; `columns` are those that are, to choose from."""

    def __init__(self, sentence: Sentence, columns: tuple[str, ...]):
        super().__init__(sentence)
        self.columns = columns


class FaultyRecords(Refusal):
    """Some records cannot be used, and the caller has not agreed to go on without them; `faults` lists them all."""

    def __init__(self, sentence: Sentence, faults: tuple[Fault, ...]):
        super().__init__(sentence)
        self.faults = faults


@dataclass
class Gathered:
    """Records as a reader comes upon them, each with its number: usable, empty or at fault."""

    file: str
    kind: Kind
    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the usable ones
    ids: list[str | None] = field(default_factory=list)  # that the file gives them, if it does
    empty: list[Sentence] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.most = limit("MINIGPT_CORPUS_RECORDS")

    def expect(self, records: int) -> None:
        """Raises ValueError when so many records, usable or not, are beyond the limit."""
        if records > self.most:
            raise Refusal(
                "{file} has more than {most:,} records, the limit MINIGPT_CORPUS_RECORDS",
                file=self.file,
                most=self.most,
            )

    def take(self, number: int, text: str, record_id: str | None = None) -> None:
        """A text, which is empty when it holds nothing but white space, and at fault with an unpaired surrogate.

        Raises ValueError beyond the limit.
        """
        if not text or text.isspace():
            self.empty.append(self.kind.place(number))
        elif reason := unpaired_surrogate(text):
            self.fault(number, reason)
        elif record_id and (reason := unpaired_surrogate(record_id)):
            self.fault(number, say("in its id, {reason}", reason=reason))
        else:
            self.texts.append(text)
            self.numbers.append(number)
            self.ids.append(record_id)
        self.expect(len(self.texts) + len(self.empty) + len(self.faults))

    def fault(self, number: int, reason: Sentence) -> None:
        """A record that cannot be used. Raises ValueError beyond the limit."""
        self.faults.append(Fault(self.file, self.kind.place(number), reason))
        self.expect(len(self.texts) + len(self.empty) + len(self.faults))

    def records(self) -> tuple[Record, ...]:
        """The usable ones, under the ids of the file if all have one and all differ, else named by their place."""
        own = [record_id for record_id in self.ids if record_id is not None]
        if not self.own_ids:
            prefix = self.kind.prefix
            own = [f"{prefix}-{number}" for number in self.numbers] if prefix else ["text"] * len(self.numbers)
        return tuple(map(Record, own, self.texts))

    @property
    def own_ids(self) -> bool:
        """Whether the ids of the file can name its records."""
        return None not in self.ids and len(set(self.ids)) == len(self.ids)

    def notes(self) -> tuple[Sentence, ...]:
        """Characters in the texts that do not show, and ids that could not be used."""
        found: list[Sentence] = []
        for character, name in _INVISIBLE.items():
            with_it = zip(self.numbers, self.texts, strict=True)
            numbers = [number for number, text in with_it if character in text]
            if numbers:
                places = listed(tuple(map(self.kind.place, numbers[: SHOWN + 1])), len(numbers))
                found.append(
                    say_count(
                        "{count:,} text holds the character {character}, which is kept: {places}",
                        "{count:,} texts hold the character {character}, which is kept: {places}",
                        count=len(numbers),
                        character=name,
                        places=places,
                    )
                )
        if any(record_id is not None for record_id in self.ids) and not self.own_ids:
            found.append(say("some records have no id, or the same one: all are named by their place in the file"))
        return tuple(found)


def listed(places: tuple[Sentence, ...], count: int) -> Sentence:
    """The first three of `count` places.

    >>> listed(tuple(map(LINE.place, (2, 5, 7, 9, 11))), 5)
    'line 2, line 5, line 7 and 2 more'
    """
    if count == 1:
        return places[0]
    first = dict(zip(("first", "second", "third"), places, strict=False))
    if count == 2:
        return say("{first}, {second}", **first)
    if count == SHOWN:
        return say("{first}, {second}, {third}", **first)
    return say("{first}, {second}, {third} and {more:,} more", more=count - SHOWN, **first)
