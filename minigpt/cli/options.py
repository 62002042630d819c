"""The options that name a corpus on the command line, and what is said about the file.

An option that does not apply to the file is refused.
"""

import argparse
from collections.abc import Callable, Iterator

from minigpt.corpus.corpus import Corpus
from minigpt.corpus.readers.encodings import ENCODINGS, EncodingFault
from minigpt.corpus.readers.files import FORMATS, ReadOptions, read_file
from minigpt.corpus.readers.lines import LineEnds
from minigpt.corpus.readers.read_result import ColumnMissing, FaultyRecords, ReadResult, listed
from minigpt.corpus.readers.tables import DELIMITERS
from minigpt.corpus.splitting import DUPLICATES, CorpusSplit, SplitOptions, split_records
from minigpt.sentences import Refusal

FAULTS_SHOWN = 5
_READING = ("format", "encoding", "column", "delimiter", "continuous")
_SPLITTING = ("validation_share", "split_seed", "duplicates", "exact_duplicates", "split_anew", "skip_faults")


def add_corpus_options(parser: argparse.ArgumentParser) -> None:
    """`--corpus` and how to read and split the file."""
    group = parser.add_argument_group("corpus", "what is found in the file is printed on standard error")
    add = group.add_argument
    add("--corpus", metavar="FILE", help="txt, csv, jsonl, json, or JSON with train and validation (default: bundled)")
    add("--format", help=f"{', '.join(FORMATS)} (default: by the file's name)")
    add("--encoding", help=f"of the file (default: utf-8): {', '.join(ENCODINGS)}")
    add("--column", help="csv, jsonl, json: the column or key of the texts (default: text)")
    add("--delimiter", help=f"csv: {', '.join(DELIMITERS)} (default: comma; tab for .tsv)")
    add("--continuous", action="store_true", default=None, help="txt: one text, not one record per line")
    add("--validation-share", type=float, metavar="SHARE", help="of the records, kept for validation (default: 0.1)")
    add("--split-seed", type=int, metavar="SEED", help="of the choice of validation records (default: 0)")
    add("--duplicates", help=f"identical texts: {', '.join(DUPLICATES)} (default: together, on one side of the split)")
    add(
        "--exact-duplicates",
        action="store_true",
        default=None,
        help="trailing spaces make texts different",
    )
    add("--split-anew", action="store_true", default=None, help="split the file again although it has its own split")
    add("--skip-faults", action="store_true", default=None, help="leave out the faulty records")


def corpus_of(options: argparse.Namespace, report: Callable[[str], None]) -> Corpus | None:
    """The corpus that the options name, None without `--corpus`; `report` is told what was found.

    Raises ValueError as `read_file` and `split_records` do, and for an option that does not apply.
    """
    given = {name for name in (*_READING, *_SPLITTING) if getattr(options, name) is not None}
    if options.corpus is None:
        if given:
            raise Refusal("--{option} needs --corpus", option=_option(given))
        return None
    reading = _read(options, given)
    report(reading_text(reading))
    _check_split(reading, given)
    names = {"validation_share": "share", "split_seed": "seed", "split_anew": "resplit"}
    names |= {name: name for name in ("duplicates", "skip_faults")}
    chosen = {to: getattr(options, name) for name, to in names.items() if name in given}
    chosen["ignore_trailing_space"] = "exact_duplicates" not in given
    try:
        split = split_records(reading, SplitOptions(**chosen))
    except FaultyRecords as error:
        raise Refusal("{error} (--skip-faults)", error=error.sentence) from error
    report(split_text(split))
    return split.corpus


def _read(options: argparse.Namespace, given: set[str]) -> ReadResult:
    chosen = ReadOptions(**{name: getattr(options, name) for name in given & {*_READING}})
    try:
        return read_file(options.corpus, chosen)
    except EncodingFault as error:
        raise Refusal("{error} (--encoding)", error=error.sentence) from error
    except ColumnMissing as error:
        raise Refusal("{error} (--column)", error=error.sentence) from error


def _check_split(reading: ReadResult, given: set[str]) -> None:
    grouping = given & {"split_seed", "duplicates", "exact_duplicates", "split_anew"}
    if grouping and reading.continuous:
        raise Refusal("--{option} does not apply to a continuous text, which is cut once", option=_option(grouping))
    if reading.validation is None:
        if "split_anew" in given:
            raise Refusal(
                "{option} does not apply to {file}, which does not have its own split",
                option="--split-anew",
                file=reading.file,
            )
    elif grouping and not given & {"split_anew", "validation_share"}:
        raise Refusal(
            "--{option} does not apply to {file}, which has its own split; add {addition}",
            option=_option(grouping),
            file=reading.file,
            addition="--split-anew",
        )


def _option(given: set[str]) -> str:
    return sorted(given)[0].replace("_", "-")


def reading_text(reading: ReadResult) -> str:
    """The records of a file, and everything else in it, one fact per line.

    Example: `a.txt: 2 of 3 records usable (txt, utf-8, 9 bytes)` and below it `1 empty record skipped: line 2`.
    """
    lines = [f"{reading.file}: {_usable(reading)} ({reading.format}, {reading.encoding}, {reading.size:,} bytes)"]
    lines += [f"  {line}" for line in _facts(reading)]
    return "\n".join(lines)


def split_text(split: CorpusSplit) -> str:
    """The split of a corpus, one fact per line.

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
        return "the file's own split"
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
