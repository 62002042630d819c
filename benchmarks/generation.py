"""How fast a text is generated, beside `generate` of transformers on a model of the same shape, in one run.

    python -m benchmarks.generation [--rounds 5] [--cases chapter-7 gpt2-small] [--tokens 200]

Greedy, batch 1, a prompt of 16 ids, one thread, random weights (they do not change the time). All ways take turns in
every round, and what is compared is processor time, so that other work on the machine disturbs all alike; a ratio is
the median over the rounds. `minigpt` is `minigpt.generation.stepping.generate`, the code of the page and the command
line, which keeps the logits of every step. Of chapter-7 the context is 256 instead of 128, so that 216 ids fit.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

os.environ["OMP_NUM_THREADS"] = "1"

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from minigpt.config import ModelConfig
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate
from minigpt.model.gpt import MiniGPT
from minigpt.presets import preset
from minigpt.tokenizers.byte_bpe import EOS, ByteBPE

CASES = ("chapter-7", "gpt2-small")
PROMPT = list(range(65, 81))  # 16 byte ids
UNCACHED_ROUNDS = {"chapter-7": 99, "gpt2-small": 1}  # GPT-2 without a cache takes minutes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    for case in options.cases:
        compare(case, options.rounds, options.tokens)


def compare(case: str, rounds: int, tokens: int) -> None:
    """Print milliseconds a token and the ratios of one case."""
    config = preset(case).model
    config = replace(config, context_length=max(256, config.context_length))
    model = silent(MiniGPT(config).eval())
    ways = {
        "transformers generate": hugging_face(config, tokens),
        "minigpt": ours(model, tokens, cached=True),
        "minigpt without cache": ours(model, tokens, cached=False),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for way in list(ways.values())[:2]:
        way()
    for number in range(rounds):
        for name, way in ways.items():
            if name.endswith("without cache") and number >= UNCACHED_ROUNDS[case]:
                continue
            started = time.process_time()
            made = way()
            spent[name].append((time.process_time() - started) / tokens)
            assert made == tokens, f"{name} made {made} tokens"
    print(f"{case}: {tokens} tokens after {len(PROMPT)}, {rounds} rounds, torch {torch.__version__}, one thread")
    for name, seconds in spent.items():
        print(f"  {name:<22} {1000 * statistics.median(seconds):9.3f} ms a token")
    print(f"  {ratio(spent, 'transformers generate', 'minigpt'):6.2f} times as fast as transformers")
    print(f"  {ratio(spent, 'minigpt without cache', 'minigpt'):6.2f} times as fast as without a cache", flush=True)


def ratio(spent: dict[str, list[float]], slow: str, fast: str) -> float:
    """The median, over the rounds that both took part in, of slow / fast."""
    return statistics.median(a / b for a, b in zip(spent[slow], spent[fast], strict=False))


@torch.no_grad()
def silent(model: MiniGPT) -> MiniGPT:
    """The model with EOS never the best, so that no text ends early.

    The offset of the last norm gives every row a part that a constant column of -1000 turns into a logit far below.
    Ids from 259 on are unknown to a tokenizer without merges and never drawn.
    """
    model.final_norm.bias.fill_(0.01)
    column = model.token_embedding[EOS] if model.head is None else model.head[:, EOS]
    column.fill_(-1000.0)
    return model


def ours(model: MiniGPT, tokens: int, cached: bool) -> Callable[[], int]:
    """The generation of page and command line."""
    tokenizer, settings = ByteBPE(), SampleConfig(temperature=0.0, max_new_tokens=tokens)

    def run() -> int:
        return sum(1 for _ in generate(model, tokenizer, PROMPT, settings, cached=cached))

    return run


def hugging_face(config: ModelConfig, tokens: int) -> Callable[[], int]:
    """`generate` of transformers: greedy, with its cache."""
    shape = GPT2Config(
        vocab_size=config.vocab_size,
        n_positions=config.context_length,
        n_embd=config.width,
        n_layer=config.layers,
        n_head=config.heads,
        n_inner=config.ffn_width,
        activation_function={"gelu_tanh": "gelu_new"}.get(config.activation, config.activation),
        tie_word_embeddings=config.tied_head,
        attn_implementation="sdpa",
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    network, ids = GPT2LMHeadModel(shape).eval(), torch.tensor([PROMPT])
    network.generation_config.eos_token_id = None

    def run() -> int:
        with torch.inference_mode():
            made = network.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False)
        return made.shape[1] - len(PROMPT)

    return run


if __name__ == "__main__":
    main()
