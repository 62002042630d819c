"""Characters in the form of Hugging Face's tokenizer.json: WordLevel after a cut at every code point."""

from minigpt.sentences import Refusal
from minigpt.tokenizers.chars import Chars
from minigpt.tokenizers.labels import special_label, visible_label

_EACH_CHARACTER = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}
_UNKNOWN = "‹UNKNOWN›"  # has no id, so that an unknown character is an error there too


def chars_parts(tokenizer: Chars) -> tuple[dict, dict, dict]:
    """Pre-tokenizer, decoder and model of the file. An unknown character is an error there as it is here."""
    specials = {special_label(name): id for id, name in tokenizer.specials.items()}
    vocab = {character: id for id, character in enumerate(tokenizer.alphabet)} | specials
    return _EACH_CHARACTER, {"type": "Fuse"}, {"type": "WordLevel", "vocab": vocab, "unk_token": _UNKNOWN}


def read_chars(content: dict) -> Chars:
    """The tokenizer of a file whose model is WordLevel; its ids must be in the order of the characters."""
    vocab, unknown = content["model"].get("vocab"), content["model"].get("unk_token")
    if content.get("pre_tokenizer") != _EACH_CHARACTER:
        raise Refusal("its pre-tokenizer must cut at every character (Split by the Regex [\\s\\S], Isolated)")
    if not isinstance(vocab, dict):
        raise Refusal("its model needs a vocab object")
    if isinstance(unknown, str) and unknown in vocab:
        raise Refusal(
            "it gives all unknown characters the id of {unknown!r:.40}; here they are an error", unknown=unknown
        )
    tokenizer = Chars(piece for piece in vocab if len(piece) == 1)
    ours = chars_parts(tokenizer)[2]["vocab"]
    for piece, id in vocab.items():
        if piece not in ours:
            raise Refusal("its piece {piece!r:.40} is not one character", piece=piece)
        if type(id) is not int or id != ours[piece]:
            label = visible_label(piece.encode()) if len(piece) == 1 else piece
            raise Refusal(
                "its ids must follow the order of the characters: {label} has {id!r:.20}, not {ours}",
                label=label,
                id=id,
                ours=ours[piece],
            )
    return tokenizer
