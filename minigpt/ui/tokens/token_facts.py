"""What the tokens page tells about a text: its merges one by one, split characters, the vocabulary."""

from collections.abc import Iterable
from dataclasses import dataclass

from minigpt.tokenizers.base import EncodeStep, Tokenizer
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.components.table import Column
from minigpt.ui.shared.pieces import byte_ids


@dataclass(frozen=True)
class ReplayState:
    """The ids of a text at one step of its encoding; the first is the raw bytes, before any merge."""

    ids: tuple[int, ...]
    before: int  # tokens at the step before
    step: EncodeStep | None = None

    @property
    def places(self) -> int:
        """In how many places of the text the pair was."""
        return self.before - len(self.ids)


@dataclass(frozen=True)
class SplitCharacter:
    """A character whose bytes lie in more than one piece, or in a piece with part of another character."""

    text: str
    ids: tuple[int, ...]  # the pieces that hold its bytes, in order


def replay(tokenizer: Tokenizer, text: str) -> list[ReplayState]:
    """The raw bytes, then the text after each merge that touches it; the last state is `encode(text)`.

    Raises ValueError for a text whose steps are too many to show.

    >>> [len(state.ids) for state in replay(ByteBPE([(114, 101)]), "re re")]
    [5, 3]
    """
    single = byte_ids(tokenizer.fingerprint, tokenizer)
    states = [ReplayState(tuple(single[byte] for byte in text.encode()), before=len(text.encode()))]
    for step in tokenizer.encode_steps(text):
        states.append(ReplayState(step.ids, len(states[-1].ids), step))
    return states


def split_characters(tokenizer: Tokenizer, text: str) -> list[SplitCharacter]:
    """Each different character of `text` whose bytes are not whole inside one piece, in order of appearance."""
    ids = tokenizer.encode(text)
    owner: list[int] = []  # for each byte, the index of its piece
    for index, token in enumerate(ids):
        owner += [index] * len(tokenizer.piece_bytes(token))
    found: dict[SplitCharacter, None] = {}
    start = 0
    for character in text:
        end = start + len(character.encode())
        if owner[start] != owner[end - 1]:
            pieces = dict.fromkeys(owner[start:end])
            found[SplitCharacter(character, tuple(ids[index] for index in pieces))] = None
        start = end
    return list(found)


def vocabulary_rows(tokenizer: Tokenizer, ids: Iterable[int]) -> list[tuple[int, str, str, str]]:
    """One row an id: the id, its piece, its bytes, and how it was made."""
    return [
        (token, tokenizer.piece_label(token), byte_text(tokenizer, token), origin(tokenizer, token)) for token in ids
    ]


def origin(tokenizer: Tokenizer, token: int) -> str:
    """What an id is made from: a byte, a character, a special, or the merge of two others."""
    if token in tokenizer.specials:
        return t("special: no text is encoded as it")
    rank = tokenizer.merge_rank(token)
    if rank is None:
        return t("character") if tokenizer.kind == "chars" else t("byte {byte}", byte=tokenizer.piece_bytes(token)[0])
    left, right = tokenizer.merges[rank]
    return t(
        "rank {rank}: {left} + {right}  ({left_piece} + {right_piece})",
        rank=rank,
        left=left,
        right=right,
        left_piece=tokenizer.piece_label(left),
        right_piece=tokenizer.piece_label(right),
    )


def byte_text(tokenizer: Tokenizer, token: int) -> str:
    """The bytes of an id as hex, `65 72`; a dash for specials, which have none."""
    return tokenizer.piece_bytes(token).hex(" ").upper() or "–"


def target_columns(view: View) -> list[Column]:
    """One row a position: input, target, and the loss."""
    losses = view.losses
    return [
        Column(t("position"), [str(position) for position in range(view.length)], "number"),
        Column(t("input id"), [str(token) for token in view.ids], "number"),
        Column(t("input piece"), view.labels),
        Column(t("input bytes"), [byte_text(view.tokenizer, token) for token in view.ids]),
        Column(t("target id"), [str(token) for token in view.targets], "number"),
        Column(t("target piece"), view.target_labels),
        Column(t("loss (nats)"), [f"{loss:.6f}" for loss in losses], "number", exact=[repr(loss) for loss in losses]),
    ]


def typed_specials(tokenizer: Tokenizer) -> list[tuple[str, list[int]]]:
    """Texts that look like special ids, with the ids they really have: ordinary bytes and merges."""
    typed = ["<|eos|>", "BOS", visible_label(b"\n"), *tokenizer.specials.values()]
    found = []
    for text in dict.fromkeys(typed):
        try:
            found.append((text, tokenizer.encode(text)))
        except ValueError:  # the alphabet of this tokenizer lacks a character of it
            continue
    return found[:3] if tokenizer.bos != tokenizer.eos else found
