"""What the stages page says beside the sentences of the stages themselves: headings, checks, masked keys."""

from minigpt.inspection.stages import Recomputed
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View


def part_titles(view: View) -> dict[str, str]:
    """Headings of the stage rail, by the part that begins."""
    last = len(view.trace.blocks) - 1
    return {
        "embeddings": t("Embeddings"),
        "block": t("Block {block} of 0–{last}", block=view.block, last=last) if last else t("Block"),
        "attention": t("Attention"),
        "ffn": t("Feed-forward"),
        "output": t("Output"),
    }


def check_words(result: Recomputed) -> str:
    """From what NumPy recomputed a stage, and how near it came."""
    sources = [stage.name for stage in result.inputs] + list(result.weights)
    return t(
        "Recomputed by NumPy from {sources}: largest difference {difference}, allowed {tolerance}.",
        sources=", ".join(sources) or t("positions and valid slots"),
        difference=f"{result.difference:.2g}".replace("-", "−"),
        tolerance=f"{result.tolerance:.2g}".replace("-", "−"),
    )


def hidden_words(reason: str, query: int, key: int) -> str:
    """Why a key is not read; "" when it is."""
    if reason == "later":
        return t(
            "Key {key} comes later than query {query}: it is masked and gets weight 0, whatever its score.",
            key=key,
            query=query,
        )
    if reason == "padding_key":
        return t("Key {key} is padding: it is masked and gets weight 0, whatever its score.", key=key)
    if reason == "padding_query":
        return t("Position {query} is padding: it reads nothing.", query=query)
    return ""
