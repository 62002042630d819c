"""The corpora that there are: those that the project ships, and the files that readers brought.

A shipped corpus is a folder of data/ with a corpus.json, or with a text and an about.json:

    {"name": "Chinese lines", "about": "one sentence", "kind": "records", "file": "lines.txt"}

`kind` is "records" (one a line) or "continuous" (one text). Such a text is split with the seed and the share of a
new corpus, so that everybody's runs on it can be compared.

A reader's file is kept for the browser it came from:

    corpora/3fa2c1-9b0d77e2c4f10a55/label.json     whose it is, the file's name and the hash of its bytes
    corpora/3fa2c1-9b0d77e2c4f10a55/source         the bytes as they came
    corpora/3fa2c1-9b0d77e2c4f10a55/choices.json   how to read and split it
    corpora/3fa2c1-9b0d77e2c4f10a55/corpus.json    the corpus made of it
    corpora/3fa2c1-9b0d77e2c4f10a55/tokenizers/    what was learned from it
    corpora/<mark of a browser>/tokenizers/        what that browser learned from shipped corpora

Only its browser can open a corpus, even by its id: unlike a run it is not shared by a link. Runs
copy the corpus they are trained on, so that a deleted one leaves them as they are.
"""

import hashlib
import json
import shutil
import time
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path, PurePath
from typing import Any, TypeVar

from minigpt.corpus.corpus import Corpus
from minigpt.corpus.readers.encodings import EncodingFault, decode
from minigpt.corpus.readers.files import FORMATS, ReadOptions, check_size, no_records, read_file
from minigpt.corpus.readers.lines import detect_continuous
from minigpt.corpus.readers.objects import load_corpus
from minigpt.corpus.splitting import SplitOptions, split_records
from minigpt.limits import limit
from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_object
from minigpt.storage.owned import OwnedFolders, mark, new_id
from minigpt.storage.paths import DATA
from minigpt.validation import check_choice

FIRST = "mini-gpt"  # the corpus of the shipped run
KINDS = ("records", "continuous")


@dataclass(frozen=True)
class Bundled:
    """What a folder of data/ holds. `path` is the corpus.json or the text."""

    key: str  # the folder's name
    title: str
    about: str
    path: Path
    continuous: bool = False

    def corpus(self) -> Corpus:
        """Its records. Raises ValueError for a damaged file."""
        if self.path.suffix == ".json":
            return load_corpus(self.path)
        read = split_records(read_file(self.path, ReadOptions(continuous=self.continuous))).corpus
        return Corpus(self.key, read.train, read.validation)


def bundled_keys() -> tuple[str, ...]:
    """Their folders' names, that of the shipped run first."""
    found = {path.parent.name for name in ("about.json", "corpus.json") for path in DATA.glob(f"*/{name}")}
    return (FIRST, *sorted(found - {FIRST}))


def bundled(key: str) -> Bundled:
    """One of them. Raises ValueError that lists the names for any other, and for a damaged about.json."""
    check_choice("the corpus", key, bundled_keys())
    folder, about = DATA / key, DATA / key / "about.json"
    told = read_object(about) if about.exists() else {}
    if (folder / "corpus.json").exists():
        return Bundled(key, told.get("name", key), told.get("about", ""), folder / "corpus.json")
    try:
        check_choice("kind", told["kind"], KINDS)
        return Bundled(key, told["name"], told["about"], folder / told["file"], told["kind"] == "continuous")
    except KeyError as error:
        raise Refusal("{path} lacks {field}", path=about, field=error.args[0]) from error


def bundled_corpus() -> Corpus:
    """The 24 + 8 records that the first text uses and the shipped run is trained on."""
    return bundled(FIRST).corpus()


@dataclass(frozen=True)
class CorpusLabel:
    """Who owns a corpus and what came: `name` of the file, `hash` 16 hex digits of the SHA-256 of its bytes."""

    owner: str
    name: str
    hash: str
    created: float  # seconds since 1970


@dataclass(frozen=True)
class Choices:
    """How to read a file and how to split its records."""

    read: ReadOptions = ReadOptions()
    split: SplitOptions = SplitOptions()

    def with_reading(self, **changes: Any) -> "Choices":
        """Read in another way. The faults that this may give have to be agreed to again."""
        return Choices(replace(self.read, **changes), replace(self.split, skip_faults=False))


CORPORA = OwnedFolders("corpora", CorpusLabel)  # MINIGPT_CORPORA, or `corpora` beside the program
Options = TypeVar("Options", ReadOptions, SplitOptions)


def browser_folder(browser: str) -> Path:
    """Where a browser keeps what it learns from shipped corpora."""
    return CORPORA.root / mark(browser)


def corpora_of(browser: str) -> list[str]:
    """Ids of the corpora of this browser, the newest first."""
    return CORPORA.ids_of(browser)


def corpus_folder(name: str, browser: str) -> Path:
    """The folder of a corpus of this browser. Raises ValueError when it has none with this id."""
    read_label(name, browser)
    return CORPORA.folder(name)


def read_label(name: str, browser: str) -> CorpusLabel:
    """Who owns a corpus and what came. Raises ValueError as `corpus_folder` does."""
    CORPORA.folder(name)  # refuses what cannot be an id
    label = CORPORA.label(name)
    if label is None or label.owner != mark(browser):
        raise Refusal("this browser has no corpus {id}: it was deleted, or it belongs to another browser", id=name)
    return label


def take_file(browser: str, name: str, content: bytes) -> str:
    """Keep a file, to be read in the way that its text suggests; its id.

    Raises ValueError for a file that is blank or beyond the limits, and as `put` does.
    """
    check_size(name, len(content))
    if not content.strip():
        raise no_records(name, content, blank=True)
    new = put(browser, name, content)
    if is_text(name) and not (corpus_folder(new, browser) / "choices.json").exists():
        try:
            suggested = detect_continuous(decode(content).text).continuous
        except EncodingFault:
            suggested = False
        write_choices(new, browser, Choices(ReadOptions(continuous=suggested)))
    return new


def put(browser: str, name: str, content: bytes) -> str:
    """Keep a file; its id. The same bytes under the same name are the corpus that is there already.

    Raises ValueError when this browser keeps too many, and in place of an OSError when the folder cannot
    be written. A changed file of the same name is another corpus.
    """
    content_hash = hashlib.sha256(content).hexdigest()[:16]
    kept = corpora_of(browser)
    for other in kept:
        label = read_label(other, browser)
        if (label.name, label.hash) == (name, content_hash):
            return other
    most = limit("MINIGPT_CORPORA_A_BROWSER")
    if len(kept) >= most:
        raise Refusal(
            "this browser keeps {count} corpora, at most {most} are allowed; delete one first",
            count=len(kept),
            most=most,
        )
    new = new_id(browser)
    folder = CORPORA.folder(new)
    try:
        folder.mkdir(parents=True)
        write_atomic(folder / "source", content)
        CORPORA.write_label(new, CorpusLabel(mark(browser), name, content_hash, time.time()))
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Refusal("cannot keep the file in {folder}: {reason}", folder=folder, reason=error.strerror) from error
    return new


def source(name: str, browser: str) -> bytes:
    """The bytes as they came. Raises ValueError as `corpus_folder` does."""
    return (corpus_folder(name, browser) / "source").read_bytes()


def read_choices(name: str, browser: str) -> Choices:
    """How to read and split it, as `write_choices` left it; what cannot be understood is the default."""
    folder = corpus_folder(name, browser)
    try:
        kept = read_object(folder / "choices.json")
        split = kept.get("split", {})
        split.setdefault("resplit", split.get("anew", False))  # its name before
        return Choices(_options(ReadOptions, kept.get("read", {})), _options(SplitOptions, split))
    except (ValueError, TypeError, AttributeError):
        return Choices()


def write_choices(name: str, browser: str, choices: Choices) -> None:
    """Keep how to read and split it. The corpus that other choices made is removed, until it is made again."""
    folder = corpus_folder(name, browser)
    if not (folder / "choices.json").exists() or choices != read_choices(name, browser):
        write_atomic(folder / "choices.json", json.dumps(asdict(choices)).encode())
        (folder / "corpus.json").unlink(missing_ok=True)


def keep_corpus(name: str, browser: str, corpus: Corpus) -> Path:
    """Write the corpus that the choices make of the file; its path."""
    path = corpus_folder(name, browser) / "corpus.json"
    write_atomic(path, corpus.to_json().encode())
    return path


def delete(name: str, browser: str) -> None:
    """Remove a corpus with all that was learned from it. Raises ValueError as `corpus_folder` does."""
    shutil.rmtree(corpus_folder(name, browser))


def is_text(file: str) -> bool:
    """Whether a file of this name is read as txt."""
    return PurePath(file).suffix.lower() in FORMATS["txt"]


def _options(kind: type[Options], values: dict[str, Any]) -> Options:
    return kind(**{field.name: values[field.name] for field in fields(kind) if field.name in values})
