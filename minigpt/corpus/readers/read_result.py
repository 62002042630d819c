"""What reading a file gave: its records, and everything in it that is no record, each counted and placed.

Nothing is lost on the way: `found` = `records` + `validation` + `empty` + `faults`.
"""

from dataclasses import dataclass, field

from minigpt.corpus.corpus import Record, half_character
from minigpt.limits import limit
from minigpt.sentences import Refusal

SHOWN = 3  # places that a sentence names; it counts the others
_UNSEEN = {"\0": "a NUL character", "\ufeff": "a byte order mark (U+FEFF)", "\r": "a carriage return"}


@dataclass(frozen=True)
class Fault:
    """One record that cannot be used: where it stands in which file, and why."""

    file: str
    place: str  # "line 3", "record 3" or "train record 3"
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: {self.reason}"


@dataclass(frozen=True)
class LineEnds:
    """How the lines of a file end; `inner` counts carriage returns that end no line and stay in the texts."""

    lf: int = 0
    crlf: int = 0
    cr: int = 0
    inner: int = 0


@dataclass(frozen=True)
class Reading:
    """A file, read once. Texts are as they stand in it: nothing is trimmed, normalised or cut.

    A record that holds nothing, or white space alone, is no record: its place is in `empty`. One that
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
    empty: tuple[str, ...]  # places
    faults: tuple[Fault, ...]
    line_ends: LineEnds | None  # None where line ends are no text, as in JSON
    continuous: bool  # one text, to be read in windows
    column: str | None  # that the texts stand in, for csv and objects
    columns: tuple[str, ...]  # of a csv, in order
    notes: tuple[str, ...]  # what else is worth a look: kept NULs, ids that were not usable

    @property
    def found(self) -> int:
        """Records in the file, usable or not."""
        return self.used + len(self.empty) + len(self.faults)

    @property
    def used(self) -> int:
        """Records that can be used."""
        return len(self.records) + len(self.validation or ())


class ColumnMissing(ValueError):
    """The wanted column or field is not there; `columns` are those that are, to choose from."""

    def __init__(self, sentence: str, columns: tuple[str, ...]):
        super().__init__(sentence)
        self.columns = columns


class FaultyRecords(ValueError):
    """Some records cannot be used and nobody agreed to go on without them; `faults` lists them all."""

    def __init__(self, sentence: str, faults: tuple[Fault, ...]):
        super().__init__(sentence)
        self.faults = faults


@dataclass
class Gathered:
    """Records as a reader comes upon them, each to its place: usable, empty or at fault."""

    file: str
    texts: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)  # of the usable ones
    ids: list[str | None] = field(default_factory=list)  # that the file gives them, if it does
    empty: list[str] = field(default_factory=list)
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

    def take(self, place: str, text: str, id: str | None = None) -> None:
        """A text, which is empty when it holds nothing but white space, and at fault with half a character.

        Raises ValueError beyond the limit.
        """
        if not text or text.isspace():
            self.empty.append(place)
        elif reason := half_character(text):
            self.fault(place, reason)
        elif id and (reason := half_character(id)):
            self.fault(place, f"its id {reason}")
        else:
            self.texts.append(text)
            self.places.append(place)
            self.ids.append(id)
        self.expect(len(self.texts) + len(self.empty) + len(self.faults))

    def fault(self, place: str, reason: str) -> None:
        """A record that cannot be used. Raises ValueError beyond the limit."""
        self.faults.append(Fault(self.file, place, reason))
        self.expect(len(self.texts) + len(self.empty) + len(self.faults))

    def records(self) -> tuple[Record, ...]:
        """The usable ones, under the ids of the file if all have one and all differ, else named by their place."""
        own = self.own_ids
        ids = self.ids if own else [place.replace(" ", "-") for place in self.places]
        return tuple(map(Record, ids, self.texts))

    @property
    def own_ids(self) -> bool:
        """Whether the ids of the file can name its records."""
        return None not in self.ids and len(set(self.ids)) == len(self.ids)

    def notes(self) -> tuple[str, ...]:
        """What stands in the texts that nobody sees, and ids that could not be used."""
        found = []
        for character, kind in _UNSEEN.items():
            places = tuple(place for place, text in zip(self.places, self.texts, strict=True) if character in text)
            if places:
                found.append(f"{counted(len(places), 'text')} with {kind}, kept where it stood: {listed(places)}")
        if any(id is not None for id in self.ids) and not self.own_ids:
            found.append("some records have no id, or the same one: all are named by their place in the file")
        return tuple(found)


def counted(number: int, thing: str) -> str:
    """A number of things in words.

    >>> counted(1, "record"), counted(1200, "empty record")
    ('1 record', '1,200 empty records')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def listed(places: tuple[str, ...]) -> str:
    """The first places of many, in words.

    >>> listed(("line 2", "line 5", "line 7", "line 9", "line 11"))
    'line 2, line 5, line 7 and 2 more'
    """
    more = len(places) - SHOWN
    return ", ".join(places[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
