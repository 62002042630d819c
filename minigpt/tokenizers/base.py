"""What every tokenizer can do. Models, records, pages and run folders know no more about it than this."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class EncodeStep:
    """The ids of a text after one merge that touched it."""

    rank: int
    left: int
    right: int
    id: int
    ids: tuple[int, ...]


class Tokenizer(Protocol):
    """Text to ids and back. `encode` never gives a special id, whatever is typed: only the record builder sets those.

    `bos`, `eos` and `pad` are ids, and may be one and the same, as in GPT-2; `specials` names them.
    """

    kind: str  # "byte_bpe", "chars" or "gpt2"
    bos: int  # begins a record
    eos: int  # ends it
    pad: int  # fills a slot that no record uses
    specials: dict[int, str]
    merges: tuple[tuple[int, int], ...]  # by rank; none for characters

    @property
    def vocab_size(self) -> int:
        """Number of ids, which are 0 .. vocab_size - 1."""

    @property
    def fingerprint(self) -> str:
        """16 hex digits; equal exactly when every text has equal ids."""

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials; ValueError that names what has no id, with its index."""

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge that touches it, in the order in which they apply."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text behind `ids`; bytes that are not valid UTF-8 become U+FFFD."""

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes behind `ids`; specials have none. ValueError for an unknown id."""

    def piece_bytes(self, id: int) -> bytes:
        """The bytes of one id, none for a special. ValueError for an unknown id."""

    def piece_label(self, id: int) -> str:
        """How one id is written on screen: visible, and different for different pieces."""

    def merge_rank(self, id: int) -> int | None:
        """Which merge made the id; None for a byte, a character or a special."""

    def save(self, path: str | Path) -> None:
        """Write it as readable JSON, which `minigpt.tokenizers.files.load_tokenizer` reads."""
