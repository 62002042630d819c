"""The shelf of corpora: the files that readers brought, kept for the browser they came from.

    corpora/3fa2c1-9b0d77e2c4f10a55/label.json     whose it is, the file's name and the hash of its bytes
    corpora/3fa2c1-9b0d77e2c4f10a55/source         the bytes as they came
    corpora/3fa2c1-9b0d77e2c4f10a55/choices.json   how to read and split it
    corpora/3fa2c1-9b0d77e2c4f10a55/corpus.json    the corpus made of it
    corpora/3fa2c1-9b0d77e2c4f10a55/tokenizers/    what was learned from it
    corpora/<mark of a browser>/tokenizers/        what that browser learned from bundled corpora

Nobody but its browser gets at a corpus, also by its id: unlike a run it is not shared by a link. Runs
copy the corpus they are trained on, so that a deleted one leaves them as they are.
"""

import hashlib
import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from minigpt.corpus.corpus import Corpus
from minigpt.limits import limit
from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.owned import checked_id, made_by, mark, new_id
from minigpt.storage.paths import data_folder


@dataclass(frozen=True)
class Label:
    """Whose a corpus is and what came: `name` of the file, `hash` 16 hex digits of the SHA-256 of its bytes."""

    owner: str
    name: str
    hash: str
    created: float  # seconds since 1970


def shelf() -> Path:
    """The folder of corpora: MINIGPT_CORPORA, or `corpora` beside the program."""
    return data_folder("corpora")


def bench(browser: str) -> Path:
    """Where a browser keeps what it learns from bundled corpora."""
    return shelf() / mark(browser)


def corpora_of(browser: str) -> list[str]:
    """Ids of the corpora of this browser, the newest first."""
    return made_by(browser, shelf(), _label)


def corpus_folder(id: str, browser: str) -> Path:
    """The folder of a corpus of this browser. Raises ValueError when it has none of this id."""
    folder = shelf() / checked_id(id)
    label = _label(folder)
    if label is None or label.owner != mark(browser):
        raise Refusal("this browser has no corpus {id}: it was deleted, or it belongs to another browser", id=id)
    return folder


def put(browser: str, name: str, content: bytes) -> str:
    """Keep a file; its id. The same bytes under the same name are the corpus that is there already.

    Raises ValueError when this browser keeps too many, and in place of an OSError when the shelf cannot
    be written. A changed file of the same name is a corpus of its own.
    """
    hash = hashlib.sha256(content).hexdigest()[:16]
    kept = corpora_of(browser)
    for id in kept:
        label = read_label(id, browser)
        if (label.name, label.hash) == (name, hash):
            return id
    most = limit("MINIGPT_CORPORA_A_BROWSER")
    if len(kept) >= most:
        raise Refusal(
            "this browser keeps {count} corpora, at most {most} are allowed; delete one first",
            count=len(kept),
            most=most,
        )
    id = new_id(browser)
    folder = shelf() / id
    try:
        folder.mkdir(parents=True)
        write_atomic(folder / "source", content)
        label = Label(mark(browser), name, hash, time.time())
        write_atomic(folder / "label.json", json.dumps(asdict(label)).encode())
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Refusal("cannot keep the file in {folder}: {strerror}", folder=folder, strerror=error.strerror) from error
    return id


def read_label(id: str, browser: str) -> Label:
    """Whose a corpus is and what came. Raises ValueError as `corpus_folder` does."""
    return _label(corpus_folder(id, browser))


def source(id: str, browser: str) -> bytes:
    """The bytes as they came. Raises ValueError as `corpus_folder` does."""
    return (corpus_folder(id, browser) / "source").read_bytes()


def read_choices(id: str, browser: str) -> dict:
    """How to read and split it, as `write_choices` left it; empty before."""
    try:
        content = json.loads((corpus_folder(id, browser) / "choices.json").read_bytes())
    except OSError:
        return {}
    return content if isinstance(content, dict) else {}


def write_choices(id: str, browser: str, choices: dict) -> None:
    """Keep how to read and split it. The corpus that other choices made is gone then, until it is made anew."""
    folder = corpus_folder(id, browser)
    if choices != read_choices(id, browser):
        write_atomic(folder / "choices.json", json.dumps(choices).encode())
        (folder / "corpus.json").unlink(missing_ok=True)


def keep_corpus(id: str, browser: str, corpus: Corpus) -> Path:
    """Write the corpus that the choices make of the file; its path."""
    path = corpus_folder(id, browser) / "corpus.json"
    write_atomic(path, corpus.to_json().encode())
    return path


def delete(id: str, browser: str) -> None:
    """Remove a corpus with all that was learned from it. Raises ValueError as `corpus_folder` does."""
    shutil.rmtree(corpus_folder(id, browser))


def _label(folder: Path) -> Label | None:
    try:
        return Label(**json.loads((folder / "label.json").read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
