"""The ids of many texts as arrays: lists of Python numbers take ten times their memory and stop other threads."""

from collections.abc import Iterator, Sequence

import numpy as np

from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars

AT_ONCE = 4_000_000  # characters that are encoded together; a longer text is encoded by itself


def id_arrays(texts: Sequence[str], tokenizer: Tokenizer) -> Iterator[np.ndarray]:
    """The ids of each text, without specials, as int32 arrays: those of `tokenizer.encode`, and its errors.

    >>> [ids.tolist() for ids in id_arrays(["ab", "c"], Chars("abc"))]
    [[0, 1], [2]]
    """
    for part in _parts(texts):
        if isinstance(tokenizer, ByteBPE):
            yield from tokenizer.encode_arrays(part)
        elif isinstance(tokenizer, Chars):
            yield from (_characters(text, tokenizer) for text in part)
        else:
            yield from (np.array(ids, dtype=np.int32) for ids in tokenizer.encode_batch(part))


def _characters(text: str, tokenizer: Chars) -> np.ndarray:
    alphabet, codes = (
        np.frombuffer(some.encode("utf-32-le", errors="surrogatepass"), dtype=np.uint32)
        for some in (tokenizer.alphabet, text)
    )
    ids = np.searchsorted(alphabet, codes).astype(np.int32)
    if (alphabet[np.minimum(ids, len(alphabet) - 1)] != codes).any():
        tokenizer.encode(text)  # raises the error that names the unknown characters
    return ids


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        if part and size + len(text) > AT_ONCE:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part
