"""Our tokenizers as Hugging Face's `tokenizer.json`, and back, where both give the same ids.

    byte BPE over whole texts    BPE, pre-tokenizer ByteLevel with use_regex false
    GPT-2's                      BPE, pre-tokenizer ByteLevel (see `tokenizer_gpt2.py`)
    characters                   WordLevel, pre-tokenizer Split at every code point

Special ids are written as pieces that no text can be cut into, and never as added tokens: those are
found in typed text, and here text is only ever text. Reading is strict for the same reason: whatever
would give a text other ids than ours is an error that names it. What the file says about decoding is
not read; decoding gives back the text that was encoded.

Source: the serialized form of the package `tokenizers`, version 0.23. It is not needed here.
"""

from pathlib import Path
from typing import Any

from minigpt.huggingface.tokenizer_gpt2 import (
    PLAIN_BPE,
    gpt2_object,
    json_text,
    merge_pieces,
    read_gpt2_content,
    splits_words,
)
from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_object
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.bpe_trainer import FIRST_MERGE
from minigpt.tokenizers.byte_bpe import SPECIALS, ByteBPE
from minigpt.tokenizers.bytes_to_unicode import to_letters
from minigpt.tokenizers.chars import Chars
from minigpt.tokenizers.gpt2 import GPT2Tokenizer
from minigpt.tokenizers.labels import special_label, visible_label
from minigpt.tokenizers.renumbered import RenumberedBPE

_WHOLE_TEXTS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
_SPECIALS = {special_label(name): token for token, name in SPECIALS.items()}  # not in byte letters, so in no text
_EACH_CHARACTER = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}
_UNKNOWN = "‹UNKNOWN›"  # has no id, so that an unknown character is an error there too


def export_tokenizer(tokenizer: Tokenizer, path: str | Path) -> None:
    """Write `tokenizer` as a tokenizer.json under which `tokenizers` gives every text the same ids.

    Only GPT-2's file finds its special `<|endoftext|>` in typed text, as the published one does.

    Raises ValueError for byte BPE in which two merges make the same bytes: the file knows a piece by its
    bytes, so that the two ids would become one.
    """
    content = gpt2_object(tokenizer) if isinstance(tokenizer, GPT2Tokenizer) else _object(tokenizer)
    write_atomic(Path(path), json_text(content).encode())


def import_tokenizer(path: str | Path) -> Tokenizer:
    """The tokenizer of a tokenizer.json: byte BPE over whole texts, GPT-2's over words, or characters.

    Raises ValueError with the one thing in the file that our tokenizers cannot do: a normalizer, another
    split into words, added tokens, dropout, an unknown piece, two merges into one piece ...
    """
    path = Path(path)
    content = read_object(path)
    if splits_words(content):
        return read_gpt2_content(path, content)
    try:
        kind = _kind(content.get("model"))
        if kind not in ("BPE", "WordLevel"):
            raise Refusal("its model must be BPE over bytes or WordLevel over characters, got {kind}", kind=kind)
        _refuse_changes(content)
        return _read_bpe(content) if kind == "BPE" else _read_chars(content)
    except ValueError as error:
        raise Refusal("{path} cannot be used: {error}", path=path, error=error) from error


def _object(tokenizer: Tokenizer) -> dict[str, Any]:
    """The content of the file for a tokenizer over whole texts; its decoder writes nothing for a special id."""
    words: dict[str, Any]
    join: dict[str, Any]
    if isinstance(tokenizer, Chars):
        words, join, model = _EACH_CHARACTER, {"type": "Fuse"}, _chars_model(tokenizer)
    else:
        words, join, model = _WHOLE_TEXTS, _WHOLE_TEXTS, _bpe_model(tokenizer)
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
        "decoder": {"type": "Sequence", "decoders": [*dropped, join]},
        "model": model,
    }


def _refuse_changes(content: dict[str, Any]) -> None:
    """Raises ValueError for a step around the model that changes texts or ids."""
    if content.get("normalizer"):
        kind = _kind(content["normalizer"])
        raise Refusal("it has the normalizer {kind}, which changes texts before they are split", kind=kind)
    added = content.get("added_tokens")
    if added:
        names = [one.get("content") for one in added if isinstance(one, dict)] if isinstance(added, list) else added
        raise Refusal(
            "it finds the added tokens {names!r:.60} in typed text; here typed text never becomes a special id",
            names=names,
        )
    for step in ("truncation", "padding"):
        if content.get(step):
            raise Refusal("it has {step}, which changes the ids of a text by its length", step=step)
    after = content.get("post_processor")
    if after and _kind(after) != "ByteLevel":  # which only moves offsets
        raise Refusal("it has the post-processor {kind}, which adds ids to texts", kind=_kind(after))


def _kind(step: object) -> str:
    return str(step.get("type"))[:40] if isinstance(step, dict) else f"{step!r:.40}"


# Byte BPE over whole texts.


def _bpe_model(tokenizer: Tokenizer) -> dict[str, Any]:
    """Raises ValueError when two merges make the same bytes."""
    letters = [
        special_label(tokenizer.specials[token]) if token in tokenizer.specials else to_letters(piece)
        for token, piece in enumerate(map(tokenizer.piece_bytes, range(tokenizer.vocab_size)))
    ]
    vocab: dict[str, int] = {}
    for token, piece in enumerate(letters):
        if vocab.setdefault(piece, token) != token:
            raise Refusal(
                "merges {first} and {second} both make {piece!r:.60}; Hugging Face's tokenizer.json has one id for a "
                "piece, so that the ids would differ",
                first=tokenizer.merge_rank(vocab[piece]),
                second=tokenizer.merge_rank(token),
                piece=tokenizer.piece_label(token),
            )
    merges = [[letters[left], letters[right]] for left, right in tokenizer.merges]
    return {"type": "BPE", "vocab": vocab, "merges": merges}


def _read_bpe(content: dict[str, Any]) -> ByteBPE | RenumberedBPE:
    """The tokenizer of a file whose model is BPE, with the ids of the file.

    Where the file has no pieces for BOS, EOS and PAD, these are the three ids after its last one.
    """
    model = content["model"]
    _refuse_settings(model, content.get("pre_tokenizer"))
    vocab, merges = model.get("vocab"), model.get("merges")
    if not isinstance(vocab, dict) or not isinstance(merges, list):
        raise Refusal("its model needs a vocab object and a list of merges")
    known, pairs = _learned(merges)
    for piece, token in vocab.items():
        if piece not in known:
            raise Refusal(
                "its piece {piece!r:.60} with id {token!r:.20} is not a byte, and no merge makes it",
                piece=piece,
                token=token,
            )
    for piece in known:
        if piece not in vocab and piece not in _SPECIALS:
            raise Refusal("its piece {piece!r:.60} has no id", piece=piece)
    if all(type(token) is int and token == known[piece] for piece, token in vocab.items()):
        return ByteBPE(pairs)
    missing = [piece for piece in _SPECIALS if piece not in vocab]
    numbered = vocab | {piece: len(vocab) + i for i, piece in enumerate(missing)}
    return RenumberedBPE(ByteBPE(pairs), [numbered[piece] for piece in sorted(known, key=known.__getitem__)])


def _refuse_settings(model: dict[str, Any], words: object) -> None:
    for name, value in PLAIN_BPE.items():
        if model.get(name) not in (None, value):
            raise Refusal(
                "its model has {name} {found!r:.40}, under which texts get other ids", name=name, found=model[name]
            )
    settings = words if isinstance(words, dict) else {"type": words}
    if settings.get("type") != "ByteLevel":
        raise Refusal("its pre-tokenizer must be ByteLevel, got {kind!r:.40}", kind=settings.get("type"))
    if settings.get("add_prefix_space") is not False:
        raise Refusal("its pre-tokenizer puts a space before every text (add_prefix_space)")


def _learned(merges: list[Any]) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """Our id of each piece in byte letters, and the merges as pairs of our ids."""
    known, pairs = {to_letters(bytes([byte])): byte for byte in range(256)}, []
    for rank, merge in enumerate(merges):
        left, right = merge_pieces(rank, merge)
        for part in (left, right):
            if part not in known:
                raise Refusal(
                    "merge {rank} joins {part!r:.60}, which is not a byte, and no earlier merge makes it",
                    rank=rank,
                    part=part,
                )
        piece = left + right
        if piece in known:
            raise Refusal(
                "merge {rank} makes {piece!r:.60} again; here each merge must make a new piece", rank=rank, piece=piece
            )
        known[piece] = FIRST_MERGE + rank
        pairs.append((known[left], known[right]))
    return known | _SPECIALS, pairs


# Characters.


def _chars_model(tokenizer: Chars) -> dict[str, Any]:
    """An unknown character is an error there as it is here."""
    specials = {special_label(name): token for token, name in tokenizer.specials.items()}
    vocab = {character: token for token, character in enumerate(tokenizer.alphabet)} | specials
    return {"type": "WordLevel", "vocab": vocab, "unk_token": _UNKNOWN}


def _read_chars(content: dict[str, Any]) -> Chars:
    """The tokenizer of a file whose model is WordLevel; its ids must be in the order of the characters."""
    vocab, unknown = content["model"].get("vocab"), content["model"].get("unk_token")
    if content.get("pre_tokenizer") != _EACH_CHARACTER:
        raise Refusal("its pre-tokenizer must split at every character (Split by the Regex [\\s\\S], Isolated)")
    if not isinstance(vocab, dict):
        raise Refusal("its model needs a vocab object")
    if isinstance(unknown, str) and unknown in vocab:
        raise Refusal(
            "it gives all unknown characters the id of {unknown!r:.40}; here they are an error", unknown=unknown
        )
    tokenizer = Chars(piece for piece in vocab if len(piece) == 1)
    ours = _chars_model(tokenizer)["vocab"]
    for piece, token in vocab.items():
        if piece not in ours:
            raise Refusal("its piece {piece!r:.40} is not one character", piece=piece)
        if type(token) is not int or token != ours[piece]:
            raise Refusal(
                "its ids must follow the order of the characters: {label} has {token!r:.20}, not {ours}",
                label=visible_label(piece.encode()) if len(piece) == 1 else piece,
                token=token,
                ours=ours[piece],
            )
    return tokenizer
