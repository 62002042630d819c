"""What the tokens page tells about a text: its merges one by one, split characters, the vocabulary."""

from collections.abc import Iterable
from dataclasses import dataclass

from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.components.table import Column
from minigpt.ui.shared.pieces import byte_ids


@dataclass(frozen=True)
class ReplayState:
    """The ids of a text at one step of its encoding. Step 0 is the raw bytes, where no merge is named."""

    ids: tuple[int, ...]
    before: int  # tokens at the step before
    rank: int | None = None
    left: int | None = None
    right: int | None = None
    id: int | None = None

    @property
    def places(self) -> int:
        """How often the pair stood in the text."""
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
        states.append(ReplayState(step.ids, len(states[-1].ids), step.rank, step.left, step.right, step.id))
    return states


def split_characters(tokenizer: Tokenizer, text: str) -> list[SplitCharacter]:
    """Each different character of `text` whose bytes are not whole inside one piece, in order of appearance."""
    owner, ids = [], tokenizer.encode(text)  # owner: for each byte, the index of its piece
    for index, id in enumerate(ids):
        owner += [index] * len(tokenizer.piece_bytes(id))
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
    return [(id, tokenizer.piece_label(id), byte_text(tokenizer, id), origin(tokenizer, id)) for id in ids]


def origin(tokenizer: Tokenizer, id: int) -> str:
    """How an id came to be: a byte, a special, or the merge of two others."""
    if id in tokenizer.specials:
        return t("special: no text can be it")
    rank = tokenizer.merge_rank(id)
    if rank is None:
        return t("character") if tokenizer.kind == "chars" else t("byte {byte}", byte=tokenizer.piece_bytes(id)[0])
    left, right = tokenizer.merges[rank]
    return t(
        "rank {rank}: {left} + {right}  ({left_piece} + {right_piece})",
        rank=rank,
        left=left,
        right=right,
        left_piece=tokenizer.piece_label(left),
        right_piece=tokenizer.piece_label(right),
    )


def byte_text(tokenizer: Tokenizer, id: int) -> str:
    """The bytes of an id as hex, `65 72`; a dash for specials, which have none."""
    return tokenizer.piece_bytes(id).hex(" ").upper() or "–"


def target_columns(view: View) -> list[Column]:
    """One row a position: input, target, and the loss."""
    losses = view.losses
    return [
        Column(t("position"), [str(position) for position in range(view.length)], "number"),
        Column(t("input id"), [str(id) for id in view.ids], "number"),
        Column(t("input piece"), view.labels),
        Column(t("input bytes"), [byte_text(view.tokenizer, id) for id in view.ids]),
        Column(t("target id"), [str(id) for id in view.targets], "number"),
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
