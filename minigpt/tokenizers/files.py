"""Tokenizers by what a config asks for, and from the files they save."""

import json
from collections.abc import Iterable
from pathlib import Path

from minigpt.config import TokenizerConfig
from minigpt.sentences import Refusal
from minigpt.storage.json_objects import bounded_text
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars
from minigpt.tokenizers.gpt2 import GPT2Tokenizer
from minigpt.tokenizers.renumbered import RenumberedBPE

_KINDS: tuple[type[Tokenizer], ...] = (ByteBPE, Chars, GPT2Tokenizer, RenumberedBPE)


def train_tokenizer(config: TokenizerConfig, texts: Iterable[str], others: Iterable[str] = ()) -> Tokenizer:
    """The tokenizer that `config` asks for, learned from the training `texts`.

    An alphabet also takes the characters of `others`, the validation texts: it counts nothing, and a
    validation record with a character outside it could not be scored at all. Merges never see them.
    """
    if config.kind == "chars":
        return Chars([*texts, *others])
    return ByteBPE.train(texts, config.merges)


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Read what a tokenizer's `save` wrote, whichever it was; ValueError that names the fault."""
    try:
        content = json.loads(bounded_text(Path(path)))
    except (OSError, ValueError, RecursionError) as error:
        raise Refusal("{path} is not a tokenizer file: {error}", path=path, error=error) from error
    for kind in _KINDS if isinstance(content, dict) else ():
        if content.get("format") == kind.file_format:
            return kind.from_content(path, content)
    formats = ", ".join(kind.file_format for kind in _KINDS)
    raise Refusal("{path} is not a tokenizer file; its format must be one of {formats}", path=path, formats=formats)
