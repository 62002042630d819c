"""From what a file holds to a corpus: which records validate, so that none of them is also in training.

Identical texts are one group, and a group goes to one side as a whole. Which side depends on the seed
and the text alone: groups are taken in the order of a keyed hash of their text. So the split is the
same on every system, and a record added to the file does not move the others.

A continuous text is cut once, at the border of a paragraph or a line; its end validates.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress

import numpy as np

from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.readers.read_result import FaultyRecords, ReadResult
from minigpt.sentences import Refusal, Sentence, say, say_count
from minigpt.validation import check_choice, check_float, check_int

SHARE = 0.1  # of the records, that validate
TRAIN, VALIDATION, LEFT_OUT = 0, 1, 2
DUPLICATES = ("together", "drop", "apart")
_CUTTABLE = 1000  # characters from which on a text may be cut within a line
_BORDERS = (  # where a text may be cut, the best first: pattern, least characters of the text, the place
    (re.compile(r"\n(?:[ \t]*\r?\n)+|\r(?:[ \t]*\r(?!\n))+"), 0, say("The cut is between two paragraphs.")),
    (re.compile(r"\n|\r(?!\n)"), 0, say("The cut is between two lines.")),
    (re.compile(r"[ \t\u3000。！？]"), _CUTTABLE, say("The cut is within a line, between two words.")),
    (None, _CUTTABLE, say("The cut is within a line, between two characters.")),
)
_NOT_ASKED_FOR = say("a share of 0 was asked for")


@dataclass(frozen=True)
class SplitOptions:
    """How records are split; None is the default of the file.

    `share` of the records are for validation (0 to below 1; 0.1 when the file does not bring a split).
    `duplicates`: "together" keeps identical texts on one side, "drop" keeps the first of each, "apart"
    takes each record alone, so that texts leak. Texts that differ in nothing but white space at
    their end are identical here unless `ignore_trailing_space` is False. `resplit` joins the file's own
    split and splits again. `skip_faults` agrees to go on without the records at fault.
    Raises ValueError for a value out of range.
    """

    share: float | None = None
    seed: int = 0
    duplicates: str = "together"
    ignore_trailing_space: bool = True
    resplit: bool = False
    skip_faults: bool = False

    def __post_init__(self) -> None:
        if self.share is not None:
            check_float("the share of validation records", self.share, least=0.0, below=1.0)
        check_int("the seed of the split", self.seed, least=0, most=2**63 - 1)
        check_choice("duplicates", self.duplicates, DUPLICATES)


@dataclass(frozen=True)
class CorpusSplit:
    """A corpus and how it came about. Used records and `dropped` ones are all usable records of the file."""

    corpus: Corpus
    kind: str  # "records", "continuous" or "file", the split that the file brings
    share: float  # asked for; that of the file's own split
    seed: int
    grouping: str  # what was done with identical texts, one of DUPLICATES
    distinct: int  # different texts
    duplicates: int = 0  # records beyond the first of each text
    dropped: int = 0  # of these, left out
    leaked: int = 0  # validation records whose text is also in training
    without: int = 0  # faulty records that were left out, as agreed
    cut: Sentence | None = None  # where a continuous text was cut
    no_validation: Sentence | None = None  # why there is none, in words


def split_records(read: ReadResult, options: SplitOptions | None = None) -> CorpusSplit:
    """Make the corpus of a read.

    Raises FaultyRecords, a ValueError, when records are at fault and `skip_faults` is not set; ValueError
    when no record is usable, or a share is given for a file that brings its own split, without `resplit`.

    Example: 10 lines, each 10 times, at share 0.1: 90 training records, 10 validation records of one
    text, 90 duplicates, nothing leaked.
    """
    options = options or SplitOptions()
    if read.faults and not options.skip_faults:
        raise FaultyRecords(_faulty(read), read.faults)
    if read.validation and options.share is not None and not options.resplit:
        raise Refusal(
            "{file} brings its own validation records ({count:,}): leave the share out, or ask for a new split",
            file=read.file,
            count=len(read.validation),
        )
    if read.continuous:
        return _split_text(read, options)
    records = read.records + (read.validation or ())
    groups = _groups(records, options)
    if read.validation is not None and not options.resplit and options.share is None:
        kind = "file"
        why = None if read.validation else say("{file} names no validation records", file=read.file)
        sides = np.repeat([TRAIN, VALIDATION], [len(read.records), len(read.validation)])
    else:
        kind = "records"
        sides, why = _drawn(records, groups, options)
    train, validation = (tuple(compress(records, (sides == side).tolist())) for side in (TRAIN, VALIDATION))
    used = len(train) + len(validation)
    return CorpusSplit(
        corpus=Corpus(read.name, train, validation),
        kind=kind,
        share=len(validation) / used if kind == "file" else _share(options),
        seed=options.seed,
        grouping="apart" if kind == "file" else options.duplicates,
        distinct=len(np.unique(groups)),
        duplicates=len(records) - len(np.unique(groups)),
        dropped=len(records) - used,
        leaked=int(np.isin(groups[sides == VALIDATION], groups[sides == TRAIN]).sum()),
        without=len(read.faults),
        no_validation=why,
    )


def _groups(records: tuple[Record, ...], options: SplitOptions) -> np.ndarray:
    """(N,) the group of each record: equal numbers for equal texts, numbered in the order of the draw."""
    texts = (record.text.rstrip() if options.ignore_trailing_space else record.text for record in records)
    return _ranks(texts, options.seed)


def _ranks(texts: Iterable[str], seed: int) -> np.ndarray:
    """(N,) the place of each text's keyed hash (128 bits) among all different ones."""
    key = seed.to_bytes(8, "little")
    hashes = b"".join(hashlib.blake2b(text.encode(), digest_size=16, key=key).digest() for text in texts)
    halves = np.frombuffer(hashes, dtype=">u8").reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    new = (halves[order][1:] != halves[order][:-1]).any(axis=1)
    ranks = np.zeros(len(halves), dtype=np.int64)
    ranks[order[1:]] = np.cumsum(new)
    return ranks


def _drawn(
    records: tuple[Record, ...], groups: np.ndarray, options: SplitOptions
) -> tuple[np.ndarray, Sentence | None]:
    """(N,) the side of each record, and why none is for validation.

    Groups are drawn while they fit into the wanted number of records; when none fits, the smallest one
    is. One group at least is left to train on.
    """
    units, sides = groups, np.full(len(records), TRAIN)
    if options.duplicates == "apart":  # each record is a group
        units = _ranks((f"{record.text}\n{record.id}" for record in records), options.seed)
    elif options.duplicates == "drop":
        sides[:] = LEFT_OUT
        sides[np.unique(groups, return_index=True)[1]] = TRAIN
    sizes = np.bincount(units[sides == TRAIN])
    total, share = int(sizes.sum()), _share(options)
    wanted = int(share * total + 0.5)
    if not share:
        return sides, _NOT_ASKED_FOR
    if wanted == 0:
        return sides, say_count(
            "a share of {share:g} of {count:,} record is less than half a record",
            "a share of {share:g} of {count:,} records is less than half a record",
            count=total,
            share=share,
        )
    if len(sizes) < 2:
        return sides, say("there is only one text, and it is for training")
    chosen: list[int] = []
    taken = 0
    for unit, size in enumerate(sizes.tolist()[: -1 if wanted == total else None]):
        if taken + size <= wanted:
            chosen.append(unit)
            taken += size
    sides[np.isin(units, chosen or [int(sizes.argmin())]) & (sides == TRAIN)] = VALIDATION
    return sides, None


def _split_text(read: ReadResult, options: SplitOptions) -> CorpusSplit:
    """One text for training and its end for validation, cut at the best border near the wanted place."""
    text = read.records[0].text
    place, border = _border(text, _share(options))
    train, validation, cut = read.records, tuple[Record, ...](), None
    if place:
        train, validation = (Record("text-train", text[:place]),), (Record("text-validation", text[place:]),)
        cut = say(
            "The text is cut after {place:,} of {characters:,} characters, at line {line:,}. {border}",
            place=place,
            characters=len(text),
            line=text.count("\n" if "\n" in text else "\r", 0, place) + 1,
            border=border,
        )
    return CorpusSplit(
        corpus=Corpus(read.name, train, validation),
        kind="continuous",
        share=_share(options),
        seed=options.seed,
        grouping="apart",
        distinct=len(train) + len(validation),
        cut=cut,
        no_validation=None if place else border,
    )


def _border(text: str, share: float) -> tuple[int, Sentence]:
    """Where to cut and what is there, as a sentence; or 0 and why the text cannot be cut.

    A border counts when it is off the wanted place by at most a quarter of the validation text.
    """
    if not share:
        return 0, _NOT_ASKED_FOR
    wanted, slack = int(len(text) * (1 - share) + 0.5), int(len(text) * share / 4)
    for pattern, least, border in _BORDERS:
        for end in _ends(pattern, text, wanted, slack) if len(text) >= least else ():
            if not text[:end].isspace() and not text[end:].isspace():
                return end, border
    return 0, say(
        "a text of {characters:,} characters has no border between two lines where {share:g} of it is left",
        characters=len(text),
        share=share,
    )


def _ends(pattern: re.Pattern | None, text: str, wanted: int, slack: int) -> list[int]:
    """The ends of the matches within `slack` of the wanted place, the nearest first; ties to the earlier."""
    if pattern is None:
        return [wanted]
    found = pattern.finditer(text, max(0, wanted - slack - 2), min(len(text), wanted + slack + 2))
    ends = {match.end() for match in found} - {0, len(text)}
    return sorted((end for end in ends if abs(end - wanted) <= slack), key=lambda end: (abs(end - wanted), end))


def _share(options: SplitOptions) -> float:
    return SHARE if options.share is None else options.share


def _faulty(read: ReadResult) -> Sentence:
    first, others = read.faults[0].sentence, len(read.faults) - 1
    if not others:
        return say("{fault}; fix the file, or agree to go on without this record", fault=first)
    return say_count(
        "{fault}, and {count:,} more faulty record; fix the file, or agree to go on without them",
        "{fault}, and {count:,} more faulty records; fix the file, or agree to go on without them",
        count=others,
        fault=first,
    )
