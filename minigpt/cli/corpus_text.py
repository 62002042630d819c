"""What was found in a file and how it was split, for people at a terminal."""

from collections.abc import Iterator

from minigpt.corpus.readers.lines import LineEnds
from minigpt.corpus.readers.read_result import ReadResult, listed
from minigpt.corpus.splitting import CorpusSplit

FAULTS_SHOWN = 5


def reading_text(reading: ReadResult) -> str:
    """The records of a file, and all in it that is none, one fact a line.

    Example: `a.txt: 2 of 3 records usable (txt, utf-8, 9 bytes)` and below it `1 empty record skipped: line 2`.
    """
    lines = [f"{reading.file}: {_usable(reading)} ({reading.format}, {reading.encoding}, {reading.size:,} bytes)"]
    lines += [f"  {line}" for line in _facts(reading)]
    return "\n".join(lines)


def split_text(split: CorpusSplit) -> str:
    """The split of a corpus, one fact a line.

    Example: `split with seed 0: 90 training and 10 validation records, 90 duplicates grouped`.
    """
    corpus = split.corpus
    sizes = f"{len(corpus.train):,} training and {counted(len(corpus.validation), 'validation record')}"
    lines = [f"{_how(split)}: {sizes}{_duplicates(split)}"]
    if split.cut:
        lines.append(f"  {split.cut}")
    if split.without:
        lines.append(f"  {counted(split.without, 'record')} at fault left out")
    if split.leaked:
        lines.append(f"  warning: {counted(split.leaked, 'validation record')} also in training")
    if split.no_validation:
        lines.append(f"  no validation: {split.no_validation}")
    return "\n".join(lines)


def _usable(reading: ReadResult) -> str:
    if reading.continuous:
        return "one continuous text"
    found = counted(reading.found, "record")
    return found if reading.used == reading.found else f"{reading.used:,} of {found} usable"


def _facts(reading: ReadResult) -> Iterator[str]:
    if reading.mark:
        yield "a byte order mark at its beginning, removed"
    if reading.empty:
        yield f"{counted(len(reading.empty), 'empty record')} skipped: {listed(reading.empty, len(reading.empty))}"
    for fault in reading.faults[:FAULTS_SHOWN]:
        yield f"at fault: {fault.place}: {fault.reason}"
    if len(reading.faults) > FAULTS_SHOWN:
        yield f"at fault: {counted(len(reading.faults) - FAULTS_SHOWN, 'more record')}"
    if reading.line_ends and (ends := _ends(reading.line_ends)):
        yield f"line ends: {ends}" + (", kept in the text" if reading.continuous else "")
    yield from reading.notes


def _ends(ends: LineEnds) -> str:
    """The kinds of line ends, unless all are LF."""
    kinds = (("LF", ends.lf), ("CR LF", ends.crlf), ("CR", ends.cr))
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds if number) if ends.crlf or ends.cr else ""


def _how(split: CorpusSplit) -> str:
    if split.kind == "file":
        return "split of the file itself"
    return "split" if split.kind == "continuous" else f"split with seed {split.seed}"


def _duplicates(split: CorpusSplit) -> str:
    if not split.duplicates:
        return ""
    done = {"together": "grouped", "drop": "left out", "apart": "not grouped"}[split.grouping]
    return f", {counted(split.duplicates, 'duplicate')} {done}"


def counted(number: int, thing: str) -> str:
    """A number of things in words.

    >>> counted(1, "record"), counted(1200, "empty record")
    ('1 record', '1,200 empty records')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
