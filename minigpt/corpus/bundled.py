"""The corpora that the project ships: folders of data/ with a corpus.json, or with a text and an about.json.

    {"name": "Chinese lines", "about": "one sentence", "kind": "records", "file": "lines.txt"}

`kind` is "records" (one a line) or "continuous" (one text). A text is split as any other, with the seed
and the share of a new corpus, so that everybody's runs on it can be compared.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from minigpt.corpus.corpus import BUNDLED_CORPUS, Corpus, load_corpus
from minigpt.corpus.readers.files import ReadOptions, read_file
from minigpt.corpus.splitting import split_records
from minigpt.sentences import Refusal
from minigpt.storage.paths import DATA
from minigpt.validation import check_choice

FIRST = BUNDLED_CORPUS.parent.name  # that of the shipped run
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
    folder = DATA / key
    told = _about(folder / "about.json")
    if (folder / "corpus.json").exists():
        return Bundled(key, told.get("name", key), told.get("about", ""), folder / "corpus.json")
    try:
        check_choice("kind", told["kind"], KINDS)
        return Bundled(key, told["name"], told["about"], folder / told["file"], told["kind"] == "continuous")
    except KeyError as error:
        raise Refusal("{folder} lacks {error}", folder=folder / "about.json", error=error) from error


def _about(path: Path) -> dict:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise Refusal("{path} is not JSON: {error}", path=path, error=error) from error
    if not isinstance(content, dict):
        raise Refusal("{path} must hold an object, got {content!r:.60}", path=path, content=content)
    return content
