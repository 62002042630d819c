"""What a traced record takes in memory, counted from the table of stages before any of it is taken."""

from dataclasses import replace

from minigpt.config import ModelConfig
from minigpt.inspection.stages import trace_bytes
from minigpt.limits import limit
from minigpt.model.size_limits import number_bytes
from minigpt.sentences import Refusal


def tracing_bytes(config: ModelConfig, positions: int) -> int:
    """Bytes while a record of `positions` slots is traced: every stage, and what the forward itself holds.

    That is at most one block's stages, two more arrays (H, T, T) and a mask inside the softmax, and the logits
    twice, for their losses. MG-1, 64 slots: 1,278,464.
    """
    squares = positions * positions
    inside = (2 * config.heads * squares + positions * config.vocab_size) * number_bytes(config) + squares
    return trace_bytes(config, positions) + trace_bytes(replace(config, layers=1), positions) + inside


def check_trace(config: ModelConfig, positions: int) -> None:
    """Raises ValueError when the stages of a record of `positions` slots are beyond the limit of bytes."""
    needed, most = tracing_bytes(config, positions), limit("MINIGPT_RECORD_BYTES")
    if needed > most:
        raise Refusal(
            "a record in {positions:,} slots takes {needed:,} bytes of memory in this model, "
            "at most {most:,} are allowed here",
            positions=positions,
            needed=needed,
            most=most,
        )
