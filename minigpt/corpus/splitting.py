"""From what a file holds to a corpus: which records validate, so that none of them stands in training too.

Identical texts are one group, and a group goes to one side as a whole. Which side depends on the seed
and the text alone: groups are taken in the order of a keyed hash of their text. So the split is the
same on every system, and a record added to the file moves no other by itself.

A continuous text is cut once, at the border of a paragraph or a line; its end validates.
"""

import hashlib
import re
from dataclasses import dataclass

from minigpt.checks import number, one_of, whole
from minigpt.corpus.reading import FaultyRecords, Reading
from minigpt.corpus.records import Corpus, Record

SHARE = 0.1  # of the records, that validate
DUPLICATES = ("together", "drop", "apart")
_CUTTABLE = 1000  # characters from which on a text may be cut within a line
_BORDERS = (  # where a text may be cut, the best first, and what that is called
    (re.compile(r"\n(?:[ \t]*\r?\n)+|\r(?:[ \t]*\r(?!\n))+"), "between two paragraphs", 0),
    (re.compile(r"\n|\r(?!\n)"), "between two lines", 0),
    (re.compile(r"[ \t\u3000。！？]"), "within a line, between two words", _CUTTABLE),
    (None, "within a line, between two characters", _CUTTABLE),
)


@dataclass(frozen=True)
class SplitOptions:
    """How records are split; None is the default of the file.

    `share` of the records validate (0 to below 1; 0.1 when the file brings no split of its own).
    `duplicates`: "together" keeps identical texts on one side, "drop" keeps the first of each, "apart"
    takes each record by itself, so that texts leak. `trailing_space` False tells texts apart that differ
    in nothing but white space at their end. `anew` joins the file's own split and splits again. `skip_faults`
    agrees to go on without the records at fault. Raises ValueError for a value out of range.
    """

    share: float | None = None
    seed: int = 0
    duplicates: str = "together"
    ignore_trailing_space: bool = True
    anew: bool = False
    skip_faults: bool = False

    def __post_init__(self) -> None:
        if self.share is not None:
            number("the share of validation records", self.share, least=0.0, below=1.0)
        whole("the seed of the split", self.seed, least=0, most=2**63 - 1)
        one_of("duplicates", self.duplicates, DUPLICATES)


@dataclass(frozen=True)
class Split:
    """A corpus and how it came about. Used records and `dropped` ones are all usable records of the file."""

    corpus: Corpus
    kind: str  # "records", "continuous" or "file", the split that the file brings
    share: float  # asked for; that of the file's own split
    seed: int
    distinct: int  # different texts
    duplicates: int  # records beyond the first of each text
    dropped: int  # of these, left out
    leaked: int  # validation records whose text stands in training too
    without: int  # faulty records that were left out, as agreed
    cut: str  # where a continuous text was cut, in words; "" otherwise
    no_validation: str  # why there is none, in words; "" when there is


def split_records(reading: Reading, options: SplitOptions | None = None) -> Split:
    """Make the corpus of a reading.

    Raises FaultyRecords, a ValueError, when records are at fault and `skip_faults` is not set; ValueError
    when no record is usable, or a share is asked of a file that brings its own split, without `anew`.

    Example: 10 lines, each 10 times, at share 0.1: 90 training records, 10 validation records of one
    text, 90 duplicates, nothing leaked.
    """
    options = options or SplitOptions()
    if reading.faults and not options.skip_faults:
        raise FaultyRecords(_faulty(reading), reading.faults)
    if reading.validation and options.share is not None and not options.anew:
        raise ValueError(
            f"{reading.file} brings its own {len(reading.validation):,} validation records: "
            "leave the share out, or split anew"
        )
    if reading.continuous:
        return _split_text(reading, options)
    if reading.validation is not None and not options.anew and options.share is None:
        return _own_split(reading, options)
    return _split_groups(reading, options)


def _own_split(reading: Reading, options: SplitOptions) -> Split:
    """The file's own split, as it is; what leaks is counted."""
    why = "" if reading.validation else f"{reading.file} names no validation records"
    return _split(reading, options, reading.records, reading.validation, "file", why)


def _split_groups(reading: Reading, options: SplitOptions) -> Split:
    records = reading.records + (reading.validation or ())
    groups: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        groups.setdefault(_key(record.text, options), []).append(place)
    units = list(groups.values())
    if options.duplicates == "drop":
        units = [unit[:1] for unit in units]
    elif options.duplicates == "apart":
        units = [[place] for unit in units for place in unit]
    chosen, why = _chosen(units, records, options)
    kept = {place for unit in units for place in unit}
    train = tuple(record for i, record in enumerate(records) if i in kept and i not in chosen)
    validation = tuple(records[i] for i in sorted(chosen))
    return _split(reading, options, train, validation, "records", why)


def _chosen(units: list[list[int]], records: tuple[Record, ...], options: SplitOptions) -> tuple[set[int], str]:
    """The places that validate, and why there are none.

    Units are taken in the order of their hashes while they fit into the wanted number of records; when
    none fits, the smallest one, if that leaves a record to train on.
    """
    total, share = sum(map(len, units)), SHARE if options.share is None else options.share
    wanted = int(share * total + 0.5)
    if not share:
        return set(), "a share of 0 was asked for"
    if wanted == 0:
        return set(), f"a share of {share:g} of {total:,} records is less than half a record"
    if len(units) < 2:
        return set(), "all records hold the same text"
    ordered = sorted(units, key=lambda unit: _order(options, records, unit))
    chosen: list[int] = []
    for unit in ordered[:-1] if wanted >= total else ordered:
        if len(chosen) + len(unit) <= wanted:
            chosen += unit
    chosen = chosen or min(ordered, key=len)
    return set(chosen), ""


def _order(options: SplitOptions, records: tuple[Record, ...], unit: list[int]) -> bytes:
    """The place of a unit in the draw: a hash of its text, and of its record too where equal texts are apart."""
    text = _key(records[unit[0]].text, options) + (f"\n{unit[0]}" if options.duplicates == "apart" else "")
    return hashlib.blake2b(text.encode(), digest_size=16, key=options.seed.to_bytes(8, "little")).digest()


def _split_text(reading: Reading, options: SplitOptions) -> Split:
    """One text for training and its end for validation, cut at the best border near the wanted place."""
    text, share = reading.records[0].text, SHARE if options.share is None else options.share
    place, border = _border(text, share)
    if not place:
        return _split(reading, options, reading.records, (), "continuous", border)
    line = text.count("\n" if "\n" in text else "\r", 0, place) + 1
    cut = f"{border}, after {place:,} of {len(text):,} characters, at line {line:,}"
    train, validation = Record("text-train", text[:place]), Record("text-validation", text[place:])
    return _split(reading, options, (train,), (validation,), "continuous", "", cut)


def _border(text: str, share: float) -> tuple[int, str]:
    """Where to cut and what stands there; or 0 and why the text cannot be cut.

    A border counts when it is off the wanted place by at most a quarter of the validation text.
    """
    if not share:
        return 0, "a share of 0 was asked for"
    wanted, slack = int(len(text) * (1 - share) + 0.5), int(len(text) * share / 4)
    for pattern, name, least in _BORDERS:
        for end in _ends(pattern, text, wanted, slack) if len(text) >= least else ():
            if not text[:end].isspace() and not text[end:].isspace():
                return end, name
    return 0, f"a text of {len(text):,} characters has no border between two lines where {share:g} of it is left"


def _ends(pattern: re.Pattern | None, text: str, wanted: int, slack: int) -> list[int]:
    """The ends of the matches within `slack` of the wanted place, the nearest first; ties to the earlier."""
    if pattern is None:
        return [wanted]
    found = pattern.finditer(text, max(0, wanted - slack - 2), min(len(text), wanted + slack + 2))
    ends = {match.end() for match in found} - {0, len(text)}
    return sorted((end for end in ends if abs(end - wanted) <= slack), key=lambda end: (abs(end - wanted), end))


def _split(
    reading: Reading, options: SplitOptions, train: tuple, validation: tuple, kind: str, why: str, cut: str = ""
) -> Split:
    used, usable = len(train) + len(validation), reading.used
    known = {_key(record.text, options) for record in train}
    seen = known | {_key(record.text, options) for record in validation}
    return Split(
        corpus=Corpus(reading.name, train, validation),
        kind=kind,
        share=(len(validation) / used if kind == "file" else SHARE if options.share is None else options.share),
        seed=options.seed,
        distinct=len(seen),
        duplicates=0 if kind == "continuous" else usable - len(seen),
        dropped=0 if kind == "continuous" else usable - used,
        leaked=sum(_key(record.text, options) in known for record in validation),
        without=len(reading.faults),
        cut=cut,
        no_validation=why,
    )


def _key(text: str, options: SplitOptions) -> str:
    return text.rstrip() if options.ignore_trailing_space else text


def _faulty(reading: Reading) -> str:
    first = reading.faults[0]
    others = f" (and {len(reading.faults) - 1:,} more records are at fault)" if len(reading.faults) > 1 else ""
    return f"{first}{others}; mend the file, or agree to go on without them"
