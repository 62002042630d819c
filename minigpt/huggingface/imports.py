"""Imports: models in Hugging Face GPT-2 folders that readers opened here. The weights stay where they are.

    imports/3fa2c1-9b0d77e2c4f10a55.json    the folder, its files as they were, who opened it and when
    imports/gpt2/                           a model folder that every reader is offered, if one is put there

The name of an import, `gpt2-<id>`, cannot be guessed, so its link is what shares it, as with runs. A folder
whose files change afterwards can no longer be opened: its numbers would not be those that the link showed.
"""

import json
import threading
import time
import weakref
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from minigpt.config import ModelConfig
from minigpt.huggingface.config import CONFIG_FILE
from minigpt.huggingface.export import OWN_TOKENIZER
from minigpt.huggingface.tokenizer_gpt2 import FILES, read_gpt2_tokenizer
from minigpt.huggingface.tokenizer_json import import_tokenizer
from minigpt.huggingface.weights import INDEX, check_gpt2, load_gpt2, weight_files
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import parameter_count
from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_object
from minigpt.storage.owned import OwnedFolders, is_new_id, mark, new_id
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.files import load_tokenizer

PREFIX = "gpt2-"
FORMAT = "minigpt-import-1"
_loading = threading.Lock()  # two readers who open one folder at once load it once
_models: weakref.WeakValueDictionary[tuple, MiniGPT] = weakref.WeakValueDictionary()  # while they are in use
_tokenizers: weakref.WeakValueDictionary[tuple, Tokenizer] = weakref.WeakValueDictionary()


@dataclass(frozen=True)
class Import:
    """One opened folder. `files` are (size in bytes, modified in nanoseconds) by name; `owner` is a browser's mark."""

    folder: Path
    files: dict[str, tuple[int, int]]
    owner: str
    created: float  # seconds since 1970


@dataclass(frozen=True)
class FolderFacts:
    """What a folder holds, known without reading its weights."""

    folder: Path
    config: ModelConfig
    parameters: int
    weight_bytes: int  # on disk
    tokenizer: Tokenizer


def imports_store() -> Path:
    """Where the records lie: MINIGPT_IMPORTS, or `imports` beside the program."""
    return _IMPORTS.root


def look_into(folder: str | Path) -> FolderFacts:
    """What a Hugging Face GPT-2 folder holds, when all of it can be used: sizes, every tensor's shape, tokenizer.

    Raises ValueError in one sentence for anything that cannot.
    """
    try:
        folder = Path(folder).expanduser().absolute()
        if not folder.is_dir():
            raise Refusal("there is no folder {folder}", folder=folder)
        config = check_gpt2(folder)
        size = sum(path.stat().st_size for path in weight_files(folder))
        return FolderFacts(folder, config, parameter_count(config), size, _fitting_tokenizer(folder, config))
    except OSError as error:
        raise Refusal("{folder} cannot be read: {strerror}", folder=folder, strerror=error.strerror) from error


def folder_tokenizer(folder: str | Path) -> Tokenizer:
    """The tokenizer of a folder, whatever else lies there: GPT-2's, or one of ours that was exported.

    Raises ValueError for files that cannot be used.
    """
    folder = Path(folder).expanduser().absolute()
    try:
        if (folder / "tokenizer.json").is_file():
            return import_tokenizer(folder / "tokenizer.json")
        if (folder / OWN_TOKENIZER).is_file():
            return load_tokenizer(folder / OWN_TOKENIZER)
        return read_gpt2_tokenizer(folder)
    except OSError as error:
        raise Refusal("{folder} cannot be read: {strerror}", folder=folder, strerror=error.strerror) from error


def folder_stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Size in bytes and time in nanoseconds of every file of the folder that makes the model what it is."""
    names = [CONFIG_FILE, INDEX, *FILES, OWN_TOKENIZER]
    weights = [path.name for path in folder.glob("*.safetensors")]
    stats = {name: (folder / name).stat() for name in (*names, *weights) if (folder / name).is_file()}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in sorted(stats.items())}


def offered_folders() -> list[Path]:
    """Model folders that lie in the store itself, by name: whoever runs the app puts or links them there."""
    return sorted(path for path in imports_store().glob("*") if (path / CONFIG_FILE).is_file())


def load_folder(folder: str | Path, dtype: str = "float32") -> tuple[MiniGPT, Tokenizer]:
    """The model of a folder in evaluation mode, its weights in `dtype`, and its tokenizer.

    Raises ValueError as `look_into` does, and as `minigpt.huggingface.weights.load_gpt2`.
    """
    facts = look_into(folder)
    try:
        return load_gpt2(facts.folder, dtype), facts.tokenizer
    except OSError as error:
        raise Refusal("{folder} cannot be read: {strerror}", folder=folder, strerror=error.strerror) from error


def import_folder(folder: str | Path, browser: str = "") -> str:
    """Keep a record of a folder for this browser (its secret); the name of the source, `gpt2-<id>`.

    A folder that this browser opened before and that has not changed keeps its name. Raises ValueError as
    `look_into` does, and in place of an OSError when the record cannot be written.
    """
    facts = look_into(folder)
    try:
        files = folder_stamps(facts.folder)
        for name in imports_of(browser):
            if (known := _record(name)).folder == facts.folder and known.files == files:
                return name
        import_id, record = new_id(browser), Import(facts.folder, files, mark(browser), time.time())
        imports_store().mkdir(parents=True, exist_ok=True)
        content = {"format": FORMAT} | asdict(record) | {"folder": str(record.folder)}
        write_atomic(imports_store() / f"{import_id}.json", json.dumps(content, indent=2).encode())
    except OSError as error:
        raise Refusal(
            "the import cannot be recorded in {folder}: {strerror}",
            folder=imports_store(),
            strerror=error.strerror,
        ) from error
    return PREFIX + import_id


def imports_of(browser: str) -> list[str]:
    """Names of the imports of this browser, the newest first, without damaged records: their link names the fault."""
    return [PREFIX + import_id for import_id in _IMPORTS.ids_of(browser)]


def is_import(name: str) -> bool:
    """Whether a source's name is one that imports have; the preset `gpt2-small` is not one."""
    return name.startswith(PREFIX) and is_new_id(name.removeprefix(PREFIX))


def find_import(name: str) -> Import:
    """The record of an import whose folder is as it was.

    Raises ValueError when there is no such record, and when the folder is gone or has changed.
    """
    record = _record(name)
    if not record.folder.is_dir():
        raise Refusal(
            "the folder {folder} of this model is gone; put it back or open another one", folder=record.folder
        )
    now = folder_stamps(record.folder)
    changed = sorted(file for file in now.keys() | record.files.keys() if now.get(file) != record.files.get(file))
    if changed:
        raise Refusal(
            "the folder {folder} has changed since it was opened here ({changed}); open it again",
            folder=record.folder,
            changed=", ".join(changed),
        )
    return record


def import_title(name: str) -> str:
    """The title of an import: the name of its folder, and the end of its id. Needs the record only."""
    return f"{_record(name).folder.name} · {name[-4:]}"


def load_import(name: str) -> tuple[MiniGPT, Tokenizer]:
    """The model (float32) and tokenizer of an import; readers of one unchanged folder share them.

    Raises ValueError as `find_import` and `load_folder` do.
    """
    record = find_import(name)
    key = (record.folder, *sorted(record.files.items()))
    with _loading:
        model, tokenizer = _models.get(key), _tokenizers.get(key)
        if model is None or tokenizer is None:
            model, tokenizer = load_folder(record.folder)
            _models[key], _tokenizers[key] = model, tokenizer
    return model, tokenizer


def forget_import(name: str, browser: str) -> None:
    """Remove the record of an import; the folder stays. Raises ValueError unless this browser made it."""
    if _record(name).owner != mark(browser):
        raise Refusal("this import was made in another browser; only that browser can remove it")
    (imports_store() / f"{name.removeprefix(PREFIX)}.json").unlink(missing_ok=True)


def _record(name: str) -> Import:
    path = imports_store() / f"{name.removeprefix(PREFIX)}.json"
    if not is_import(name) or not path.is_file():
        raise Refusal("there is no import {name!r:.60} here: it was removed, or the link is wrong", name=name)
    content = read_object(path)
    try:
        return _parse(**content)
    except (ValueError, TypeError) as error:
        raise Refusal("{path} is damaged: {error}", path=path, error=error) from error


def _parse(**content: Any) -> Import:
    """The record of a JSON object. Raises ValueError, or TypeError."""
    if content.get("format") != FORMAT:
        raise Refusal("its format is not {expected}", expected=FORMAT)
    try:
        files = {file: (size, modified) for file, (size, modified) in content["files"].items()}
        return Import(Path(content["folder"]), files, content["owner"], content["created"])
    except (KeyError, AttributeError) as error:
        raise Refusal("it needs the entries folder, files, owner and created") from error


_IMPORTS = OwnedFolders("imports", _parse, label_file="{id}.json")


def _fitting_tokenizer(folder: Path, config: ModelConfig) -> Tokenizer:
    tokenizer = folder_tokenizer(folder)
    if tokenizer.vocab_size > config.vocab_size:
        raise Refusal(
            "the tokenizer in {folder} has {tokenizer_ids:,} ids, the model only {model_ids:,}",
            folder=folder,
            tokenizer_ids=tokenizer.vocab_size,
            model_ids=config.vocab_size,
        )
    return tokenizer
