"""Byte BPE over whole texts in the form of Hugging Face's tokenizer.json: ByteLevel with use_regex false."""

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.byte_bpe import FIRST_MERGE, SPECIALS, ByteBPE
from minigpt.tokenizers.bytes_to_unicode import to_letters
from minigpt.tokenizers.labels import special_label
from minigpt.tokenizers.renumbered import RenumberedBPE

_WHOLE_TEXTS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
# What must hold in the model; a missing or null entry is as good as the value.
_PLAIN = {"dropout": 0.0, "continuing_subword_prefix": "", "end_of_word_suffix": "", "byte_fallback": False,
          "ignore_merges": False}  # fmt: skip
_SPECIALS = {special_label(name): id for id, name in SPECIALS.items()}  # not in byte letters, so in no text


def bpe_parts(tokenizer: Tokenizer) -> tuple[dict, dict, dict]:
    """Pre-tokenizer, decoder and model of the file. Raises ValueError when two merges make the same bytes."""
    letters = [_letters(tokenizer, id) for id in range(tokenizer.vocab_size)]
    vocab: dict[str, int] = {}
    for id, piece in enumerate(letters):
        if vocab.setdefault(piece, id) != id:
            first, second = tokenizer.merge_rank(vocab[piece]), tokenizer.merge_rank(id)
            raise Refusal(
                "merges {first} and {second} both make {piece_label!r:.60}; Hugging Face's "
                "tokenizer.json has one id for a piece, so that the ids would differ",
                first=first,
                second=second,
                piece_label=tokenizer.piece_label(id),
            )
    merges = [[letters[left], letters[right]] for left, right in tokenizer.merges]
    return _WHOLE_TEXTS, _WHOLE_TEXTS, {"type": "BPE", "vocab": vocab, "merges": merges}


def read_bpe(content: dict) -> ByteBPE | RenumberedBPE:
    """The tokenizer of a file whose model is BPE, with the ids of the file.

    Where the file has no pieces for BOS, EOS and PAD, these are the three ids after its last one.
    """
    model = content["model"]
    _refuse_settings(model, content.get("pre_tokenizer"))
    vocab, merges = model.get("vocab"), model.get("merges")
    if not isinstance(vocab, dict) or not isinstance(merges, list):
        raise Refusal("its model needs a vocab object and a list of merges")
    known, pairs = _learned(merges)
    for piece, id in vocab.items():
        if piece not in known:
            raise Refusal(
                "its piece {piece!r:.60} with id {id!r:.20} is no byte, and no merge makes it", piece=piece, id=id
            )
    for piece in known:
        if piece not in vocab and piece not in _SPECIALS:
            raise Refusal("its piece {piece!r:.60} has no id", piece=piece)
    if all(type(id) is int and id == known[piece] for piece, id in vocab.items()):
        return ByteBPE(pairs)
    missing = [piece for piece in _SPECIALS if piece not in vocab]
    numbered = vocab | {piece: len(vocab) + i for i, piece in enumerate(missing)}
    return RenumberedBPE(ByteBPE(pairs), [numbered[piece] for piece in sorted(known, key=known.get)])


def _letters(tokenizer: Tokenizer, id: int) -> str:
    if id in tokenizer.specials:
        return special_label(tokenizer.specials[id])
    return to_letters(tokenizer.piece_bytes(id))


def _refuse_settings(model: dict, words) -> None:
    for name, value in _PLAIN.items():
        if model.get(name) not in (None, value):
            raise Refusal(
                "its model has {name} {model!r:.40}, under which texts get other ids", name=name, model=model[name]
            )
    words = words if isinstance(words, dict) else {"type": words}
    if words.get("type") != "ByteLevel":
        raise Refusal("its pre-tokenizer must be ByteLevel, got {get!r:.40}", get=words.get("type"))
    if words.get("add_prefix_space") is not False:
        raise Refusal("its pre-tokenizer puts a space before every text (add_prefix_space)")


def _learned(merges: list) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """Our id of each piece in byte letters, and the merges as pairs of our ids."""
    known, pairs = {to_letters(bytes([byte])): byte for byte in range(256)}, []
    for rank, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise Refusal("merge {rank} must join two pieces, got {merge!r:.60}", rank=rank, merge=merge)
        for part in parts:
            if part not in known:
                raise Refusal(
                    "merge {rank} joins {part!r:.60}, which is no byte, and no earlier merge makes it",
                    rank=rank,
                    part=part,
                )
        piece = "".join(parts)
        if piece in known:
            raise Refusal(
                "merge {rank} makes {piece!r:.60} again; here each merge makes an id of its own", rank=rank, piece=piece
            )
        known[piece] = FIRST_MERGE + rank
        pairs.append((known[parts[0]], known[parts[1]]))
    return known | _SPECIALS, pairs
