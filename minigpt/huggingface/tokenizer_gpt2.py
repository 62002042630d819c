"""GPT-2's tokenizer as Hugging Face keeps it in a model's folder: `tokenizer.json`, or `vocab.json` with `merges.txt`.

Reading is strict: a setting under which the ids would differ from ours (a prefix space, a normalizer, another
split into words ...) is an error that names it.
"""

import json
from pathlib import Path
from typing import Any

from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import bounded_text, read_object
from minigpt.tokenizers.bytes_to_unicode import from_letters, to_letters
from minigpt.tokenizers.gpt2 import END, GPT2Tokenizer

FILES = ("tokenizer.json", "vocab.json", "merges.txt", "added_tokens.json", "tokenizer_config.json")
_VERSION = "#version: 0.2"  # the first line of merges.txt
_WORDS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
# What must hold in the `model` of a tokenizer.json; a missing or null entry is as good as the value.
PLAIN_BPE = {
    "type": "BPE",
    "dropout": 0.0,
    "continuing_subword_prefix": "",
    "end_of_word_suffix": "",
    "byte_fallback": False,
    "ignore_merges": False,
}


def read_gpt2_tokenizer(folder: str | Path) -> GPT2Tokenizer:
    """The GPT-2 tokenizer of a folder, from tokenizer.json if it is there, else from vocab.json and merges.txt.

    Raises ValueError that names the file and the fault: files that are missing or damaged, settings that
    would give other ids, a vocabulary with gaps, a byte without an id, no `<|endoftext|>`.
    """
    folder = Path(folder)
    path = folder / "tokenizer.json"
    if path.is_file():
        return read_gpt2_content(path, read_object(path))
    for name in ("vocab.json", "merges.txt"):
        if not (folder / name).is_file():
            raise Refusal(
                "{folder} has no tokenizer: it needs tokenizer.json, or vocab.json and merges.txt", folder=folder
            )
    config = folder / "tokenizer_config.json"
    if config.is_file() and read_object(config).get("add_prefix_space"):
        raise Refusal("{config}: add_prefix_space is true; GPT-2 has false", config=config)
    added = folder / "added_tokens.json"
    names = read_object(added) if added.is_file() else {}
    vocab = read_object(folder / "vocab.json")
    return _tokenizer(folder / "vocab.json", vocab, _merge_lines(folder / "merges.txt"), {END: vocab.get(END)} | names)


def read_gpt2_content(path: Path, content: dict[str, Any]) -> GPT2Tokenizer:
    """The GPT-2 tokenizer of a tokenizer.json, already parsed; ValueError as `read_gpt2_tokenizer` raises it."""
    model, added, words = (content.get(name) for name in ("model", "added_tokens", "pre_tokenizer"))
    if not isinstance(model, dict) or not isinstance(words, dict | None) or not _is_list_of_objects(added):
        raise Refusal(
            "{path} is not a tokenizer: it needs the objects model and pre_tokenizer, and added_tokens", path=path
        )
    _refuse_differences(path, content, model)
    names = {one.get("content"): one.get("id") for one in added or ()}
    return _tokenizer(path, model.get("vocab"), model.get("merges"), names)


def write_gpt2_tokenizer(folder: str | Path, tokenizer: GPT2Tokenizer) -> None:
    """Write tokenizer.json, vocab.json, merges.txt and tokenizer_config.json, each whole, into an existing folder."""
    content = gpt2_object(tokenizer)
    lines = [_VERSION, *(" ".join(pair) for pair in content["model"]["merges"])]
    config = {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": False}
    config |= dict.fromkeys(("bos_token", "eos_token", "unk_token"), END)
    texts = {
        "tokenizer.json": json_text(content),
        "vocab.json": json_text(content["model"]["vocab"]),
        "merges.txt": "\n".join(lines) + "\n",
        "tokenizer_config.json": json.dumps(config, indent=2) + "\n",
    }
    for name, text in texts.items():
        write_atomic(Path(folder) / name, text.encode())


def splits_words(content: dict[str, Any]) -> bool:
    """Whether a tokenizer.json splits texts into words as GPT-2 does; another kind is for other readers."""
    words = content.get("pre_tokenizer")
    return isinstance(words, dict) and words.get("type") == "ByteLevel" and words.get("use_regex", True) is True


def json_text(value: dict[str, Any]) -> str:
    """One line of JSON with letters as they are."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def gpt2_object(tokenizer: GPT2Tokenizer) -> dict[str, Any]:
    """The content of tokenizer.json. Its `<|endoftext|>` is found in typed text there, as in the published file."""
    letters = {token: to_letters(tokenizer.piece_bytes(token)) for token in range(tokenizer.vocab_size)}
    letters |= tokenizer.specials
    vocab = {piece: token for token, piece in letters.items()}
    merges = [[letters[left], letters[right]] for left, right in tokenizer.merges]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": token, "content": name} | flags for token, name in tokenizer.specials.items()],
        "normalizer": None,
        "pre_tokenizer": _WORDS,
        "post_processor": _WORDS | {"trim_offsets": False},
        "decoder": _WORDS,
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    }


def merge_pieces(rank: int, merge: object) -> tuple[str, str]:
    """The two pieces of a merge written as `left right` or [left, right]. ValueError for anything else."""
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
        raise Refusal("merge {rank} must join two pieces, got {merge!r:.60}", rank=rank, merge=merge)
    return parts[0], parts[1]


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _refuse_differences(path: Path, content: dict[str, Any], model: dict[str, Any]) -> None:
    if content.get("normalizer") is not None:
        raise Refusal("{path} has a normalizer, which changes texts; GPT-2 has none", path=path)
    words = {"use_regex": True} | (content.get("pre_tokenizer") or {})
    wrong = [
        (f"model.{name}", model[name], value)
        for name, value in PLAIN_BPE.items()
        if model.get(name) not in (None, value)
    ]
    wrong += [
        (f"pre_tokenizer.{name}", words.get(name), value)
        for name, value in _WORDS.items()
        if name != "trim_offsets" and words.get(name) != value  # trim_offsets moves no border
    ]
    for name, found, value in wrong:
        raise Refusal(
            "{path}: {name} is {found!r:.40}; GPT-2 has {value!r}", path=path, name=name, found=found, value=value
        )


def _merge_lines(path: Path) -> list[str]:
    try:
        lines = bounded_text(path).split("\n")
    except OSError as error:
        raise Refusal("{path} cannot be read: {strerror}", path=path, strerror=error.strerror) from error
    except ValueError as error:
        raise Refusal("{path} cannot be used: {error}", path=path, error=error) from error
    return [line for line in lines[lines[0].startswith("#version") :] if line]


def _tokenizer(path: Path, vocab: object, merges: object, added: dict[str, Any]) -> GPT2Tokenizer:
    try:
        return _of_parts(vocab, merges, added)
    except ValueError as error:
        raise Refusal("{path} cannot be used: {error}", path=path, error=error) from error


def _of_parts(vocab: object, merges: object, added: dict[str, Any]) -> GPT2Tokenizer:
    """From pieces in letters with their ids, merges as `left right` or [left, right], and names of special ids."""
    if not isinstance(vocab, dict) or not isinstance(merges, list):
        raise Refusal("it needs a vocab object and a list of merges")
    if END not in added or added[END] is None:
        raise Refusal("{end}, which begins and ends a text, is not among its special tokens", end=END)
    named = vocab | added
    if not all(type(token) is int for token in named.values()) or sorted(named.values()) != [*range(len(named))]:
        raise Refusal(
            "its {count:,} pieces must have the ids 0 to {last}, each once", count=len(named), last=len(named) - 1
        )
    specials = {token: name for name, token in added.items()}
    pieces = [b""] * len(named)
    for letters, token in vocab.items():
        pieces[token] = b"" if token in specials else from_letters(letters)
    return GPT2Tokenizer(pieces, [_pair(rank, merge, vocab) for rank, merge in enumerate(merges)], specials)


def _pair(rank: int, merge: object, vocab: dict[str, int]) -> tuple[int, int]:
    left, right = merge_pieces(rank, merge)
    for part in (left, right):
        if part not in vocab:
            raise Refusal("merge {rank} joins {part!r:.60}, which has no id", rank=rank, part=part)
    return vocab[left], vocab[right]
