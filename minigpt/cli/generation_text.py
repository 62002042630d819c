"""What `python -m minigpt generate` prints: a plain object for --json, and the same for people to read."""

from collections.abc import Sequence

from minigpt.generation.stepping import Step
from minigpt.tokenizers.base import Tokenizer

CANDIDATES = 5  # of each step, in the JSON


def generation_object(tokenizer: Tokenizer, steps: Sequence[Step]) -> dict:
    """The new `ids` (a closing EOS included), their `text` and bytes, why it stopped, and every step.

    `text` has U+FFFD where bytes are not valid UTF-8; `bytes` (hex) has them all.
    """
    ids = [step.id for step in steps]
    return {
        "ids": ids,
        "text": tokenizer.decode(ids),
        "stop": steps[-1].stop,
        "bytes": tokenizer.decode_bytes(ids).hex(" "),
        "settings": steps[0].settings.to_dict(),
        "steps": [_step_object(tokenizer, step) for step in steps],
    }


def _step_object(tokenizer: Tokenizer, step: Step) -> dict:
    return {
        "id": step.id,
        "piece": tokenizer.piece_label(step.id),
        "raw_probability": step.raw_probability,
        "probability": step.probability,
        "rank": step.rank,
        "kept": step.kept,
        "entropy": step.entropy,
        "context": len(step.context_ids),
        "candidates": [vars(candidate) for candidate in step.candidates(CANDIDATES)],
        "stop": step.stop,
    }


def generation_text(tokenizer: Tokenizer, prompt: str, steps: Sequence[Step]) -> str:
    """Prompt and text, then every token with its numbers; what is no text is written visibly, such as ‹E6›."""
    rows = [f"{'':>4}  {'id':>6}  {'raw':>9}  {'final':>9}  {'rank':>6}  piece"]
    for step in steps:
        numbers = f"{step.raw_probability:9.6f}  {step.probability:9.6f}  {step.rank:>6}"
        rows.append(f"{step.index:>4}  {step.id:>6}  {numbers}  {tokenizer.piece_label(step.id)}")
    written = readable(tokenizer.decode_bytes(step.id for step in steps))
    return "\n".join([prompt + written, "", *rows, f"stopped: {steps[-1].stop}"])


def readable(written: bytes) -> str:
    """The text of `written`: control characters and bytes that are not valid UTF-8 in hex, all else as it is.

    >>> readable("法 a".encode()[:2] + b" b\x14\n")
    '‹E6›‹B3› b‹14›\n'
    """
    return "".join(_shown(c) for c in written.decode("utf-8", errors="surrogateescape"))


def _shown(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte outside valid UTF-8
        return f"‹{code - 0xDC00:02X}›"
    control = (code < 0x20 and character not in "\n\t") or 0x7F <= code < 0xA0
    return f"‹{code:02X}›" if control else character
