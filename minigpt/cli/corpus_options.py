"""The options that name a corpus on the command line. One that does not apply to the file is refused."""

import argparse
from collections.abc import Callable

from minigpt.cli.corpus_text import reading_text, split_text
from minigpt.corpus.corpus import Corpus
from minigpt.corpus.readers.encodings import ENCODINGS, EncodingFault
from minigpt.corpus.readers.files import FORMATS, ReadOptions, read_file
from minigpt.corpus.readers.read_result import ColumnMissing, FaultyRecords, ReadResult
from minigpt.corpus.readers.tables import DELIMITERS
from minigpt.corpus.splitting import DUPLICATES, SplitOptions, split_records
from minigpt.sentences import Refusal

_READING = ("format", "encoding", "column", "delimiter", "continuous")
_SPLITTING = ("validation_share", "split_seed", "duplicates", "exact_duplicates", "split_anew", "skip_faults")


def add_corpus_options(parser: argparse.ArgumentParser) -> None:
    """`--corpus` and how to read and split the file."""
    group = parser.add_argument_group("corpus", "what is found in the file is said on standard error")
    add = group.add_argument
    add("--corpus", metavar="FILE", help="txt, csv, jsonl, json, or JSON with train and validation (default: bundled)")
    add("--format", help=f"{', '.join(FORMATS)} (default: by the file's name)")
    add("--encoding", help=f"of the file (default: utf-8): {', '.join(ENCODINGS)}")
    add("--column", help="csv, jsonl, json: where the texts stand (default: text)")
    add("--delimiter", help=f"csv: {', '.join(DELIMITERS)} (default: comma; tab for .tsv)")
    add("--continuous", action="store_true", default=None, help="txt: one text, not one record a line")
    add("--validation-share", type=float, metavar="SHARE", help="of the records, that validate (default: 0.1)")
    add("--split-seed", type=int, metavar="SEED", help="of the choice of validation records (default: 0)")
    add("--duplicates", help=f"identical texts: {', '.join(DUPLICATES)} (default: together, on one side of the split)")
    add("--exact-duplicates", action="store_true", default=None, help="tell texts with other trailing spaces apart")
    add("--split-anew", action="store_true", default=None, help="split again what the file has split itself")
    add("--skip-faults", action="store_true", default=None, help="go on without the records at fault")


def corpus_of(options: argparse.Namespace, say: Callable[[str], None]) -> Corpus | None:
    """The corpus that the options name, None without `--corpus`; `say` is told what was found.

    Raises ValueError as `read_file` and `split_records` do, and for an option that does not apply.
    """
    given = {name for name in (*_READING, *_SPLITTING) if getattr(options, name) is not None}
    if options.corpus is None:
        _refuse(given, "needs --corpus")
        return None
    reading = _read(options, given)
    say(reading_text(reading))
    _check_split(reading, given)
    names = {"validation_share": "share", "split_seed": "seed", "split_anew": "resplit"}
    names |= {name: name for name in ("duplicates", "skip_faults")}
    chosen = {to: getattr(options, name) for name, to in names.items() if name in given}
    chosen["ignore_trailing_space"] = "exact_duplicates" not in given
    try:
        split = split_records(reading, SplitOptions(**chosen))
    except FaultyRecords as error:
        raise Refusal("{error} (--skip-faults)", error=error.sentence) from error
    say(split_text(split))
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
    if reading.continuous:
        _refuse(grouping, "does not apply to a continuous text, which is cut once")
    if reading.validation is None:
        _refuse(given & {"split_anew"}, f"does not apply to {reading.file}, which has no split of its own")
    elif not given & {"split_anew", "validation_share"}:
        _refuse(grouping, f"does not apply to {reading.file}, which brings its own split; add --split-anew")


def _refuse(given: set[str], why: str) -> None:
    if given:
        raise Refusal("--{replace} {why}", replace=sorted(given)[0].replace("_", "-"), why=why)
