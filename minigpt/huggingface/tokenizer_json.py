"""Our tokenizers as Hugging Face's `tokenizer.json`, and back, where both give the same ids.

Special ids are written as pieces that no text can be cut into, and never as added tokens: those are
found in typed text, and here text is only ever text. Reading is strict for the same reason: whatever
would give a text other ids than ours is an error that names it. What the file says about decoding is
not read; decoding gives back the text that was encoded.

Source: the serialised form of the package `tokenizers`, version 0.23. It is not needed here.
"""

import json
from pathlib import Path

from minigpt.huggingface.tokenizer_bpe import bpe_parts, read_bpe
from minigpt.huggingface.tokenizer_chars import chars_parts, read_chars
from minigpt.huggingface.tokenizer_gpt2 import gpt2_object, is_gpt2_tokenizer, read_gpt2_file
from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_object
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.labels import special_label

_READERS = {"BPE": read_bpe, "WordLevel": read_chars}


def export_tokenizer(tokenizer: Tokenizer, path: str | Path) -> None:
    """Write `tokenizer` as a tokenizer.json under which `tokenizers` gives every text the same ids.

    Only GPT-2's file finds its special `<|endoftext|>` in typed text, as the published one does.

    Raises ValueError for byte BPE in which two merges make the same bytes: the file knows a piece by its
    bytes, so that the two ids would become one.
    """
    content = gpt2_object(tokenizer) if tokenizer.kind == "gpt2" else _object(tokenizer)
    write_atomic(Path(path), json.dumps(content, ensure_ascii=False).encode() + b"\n")


def import_tokenizer(path: str | Path) -> Tokenizer:
    """The tokenizer of a tokenizer.json: byte BPE over whole texts, GPT-2's over words, or characters.

    Raises ValueError with the one thing in the file that our tokenizers cannot do: a normalizer, another
    cut into words, added tokens, dropout, an unknown piece, two merges into one piece ...
    """
    path = Path(path)
    content = read_object(path)
    if is_gpt2_tokenizer(path):
        return read_gpt2_file(path)
    try:
        kind = _kind(content.get("model"))
        if kind not in _READERS:
            raise Refusal("its model must be BPE over bytes or WordLevel over characters, got {kind}", kind=kind)
        _refuse_changes(content)
        return _READERS[kind](content)
    except ValueError as error:
        raise Refusal("{path} cannot be used: {error}", path=path, error=error) from error


def _object(tokenizer: Tokenizer) -> dict:
    """The content of the file for a tokenizer over whole texts; its decoder writes nothing for a special id."""
    words, joined, model = (chars_parts if tokenizer.kind == "chars" else bpe_parts)(tokenizer)
    labels = map(special_label, tokenizer.specials.values())
    dropped = [{"type": "Replace", "pattern": {"String": label}, "content": ""} for label in labels]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": words,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [*dropped, joined]},
        "model": model,
    }


def _refuse_changes(content: dict) -> None:
    """Raises ValueError for a step around the model that changes texts or ids."""
    if content.get("normalizer"):
        raise Refusal(
            "it has the normalizer {kind}, which changes texts before they are cut", kind=_kind(content["normalizer"])
        )
    added = content.get("added_tokens")
    if added:
        names = [one.get("content") for one in added if isinstance(one, dict)] if isinstance(added, list) else added
        raise Refusal(
            "it cuts the added tokens {names!r:.60} out of typed text; here typed text never becomes a special id",
            names=names,
        )
    for step in ("truncation", "padding"):
        if content.get(step):
            raise Refusal("it has {step}, which changes the ids of a text by its length", step=step)
    after = content.get("post_processor")
    if after and _kind(after) != "ByteLevel":  # which only moves offsets
        raise Refusal("it has the post-processor {kind}, which adds ids to texts", kind=_kind(after))


def _kind(step) -> str:
    return str(step.get("type"))[:40] if isinstance(step, dict) else f"{step!r:.40}"
