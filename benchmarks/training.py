"""How fast a training step is, beside a model of the same shape from transformers, in one run.

    python -m benchmarks.training [--rounds 12] [--cases mg-1 chapter-7 chapter-7-plain]

Every trainer takes the same batches (trimmed to their longest record), the same optimizer settings
and one thread. They take turns in short blocks, and what is compared is processor time, so that other
work on the machine disturbs all alike; a ratio is the median over the rounds. transformers with
scaled_dot_product_attention is 1.00. The plain case has dropout 0.
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

from minigpt.config import ModelConfig, TrainConfig
from minigpt.corpus.batches import batch_records
from minigpt.corpus.library import bundled_corpus
from minigpt.corpus.windows import Windows, window_stream
from minigpt.model.gpt import MiniGPT
from minigpt.presets import preset
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.training.loop import Training, TrainingData
from minigpt.training.runs.create import keep_freed_memory

BLOCKS = {"mg-1": 20, "chapter-7": 2, "chapter-7-plain": 2}  # steps of one turn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--cases", nargs="+", default=list(BLOCKS), choices=list(BLOCKS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()  # as every training does; the others have it too
    for case in options.cases:
        compare(case, options.rounds)


def compare(case: str, rounds: int) -> None:
    """Print speed and ratio of each trainer for one case."""
    model, training, split = case_of(case)
    trainers = {
        "transformers eager": hugging_face(model, training, split, "eager"),
        "transformers sdpa": hugging_face(model, training, split, "sdpa"),
        "minigpt": ours(model, training, split),
    }
    spent = {name: [] for name in trainers}
    work = 0
    for step in trainers.values():
        step(), step()
    for _ in range(rounds):
        for name, step in trainers.items():
            started = time.process_time()
            work = sum(step() for _ in range(BLOCKS[case]))
            spent[name].append((time.process_time() - started) / (BLOCKS[case] if case == "mg-1" else work))
    print(f"{case}: {rounds} rounds of {BLOCKS[case]} steps, torch {torch.__version__}, one thread, processor time")
    unit = "steps/s" if case == "mg-1" else "tokens/s"
    for name, seconds in spent.items():
        ratios = [other / own for own, other in zip(seconds, spent["transformers sdpa"], strict=True)]
        speed = 1 / statistics.median(seconds)
        print(f"  {name:<20} {speed:>9.1f} {unit:<9} ratio {statistics.median(ratios):.2f}")


def case_of(case: str) -> tuple[ModelConfig, TrainConfig, TrainingData]:
    """Model, training settings and data: MG-1 on its records, or full windows for the larger shape."""
    chosen, texts = preset(case.removesuffix("-plain")), [record.text for record in bundled_corpus().train]
    tokenizer = ByteBPE.train(texts, chosen.tokenizer.merges)
    model = replace(chosen.model, vocab_size=tokenizer.vocab_size)
    if case.endswith("plain"):
        model = replace(model, dropout=0.0)
    endless = replace(chosen.training, steps=10**9, warmup_steps=0)
    if case == "mg-1":
        return model, endless, batch_records(texts, tokenizer, model.context_length)
    return model, replace(endless, mode="windows"), window_stream(texts, tokenizer, model.context_length)


def ours(model: ModelConfig, config: TrainConfig, split: TrainingData) -> Callable[[], int]:
    """One step of the loop that pages and the command line run; returns the tokens read."""
    training = Training(MiniGPT(model), split, None, config)

    def step() -> int:
        training.advance()
        return tokens(config, split)

    return step


def hugging_face(model: ModelConfig, config: TrainConfig, split: TrainingData, attention: str) -> Callable[[], int]:
    """The same step as a plain loop around GPT2LMHeadModel and torch.optim."""
    network = GPT2LMHeadModel(gpt2_config(model, attention)).to(getattr(torch, model.dtype)).train()
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[config.optimizer]
    optimizer = kind(network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    generator = torch.Generator().manual_seed(config.batch_seed)

    def step() -> int:
        batch = split.select(torch.randint(len(split), (config.batch_size,), generator=generator), trimmed=True)
        padded = None if isinstance(split, Windows) else batch.valid.long()
        logits = network(input_ids=batch.ids, attention_mask=padded, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        if config.clip_norm:
            torch.nn.utils.clip_grad_norm_(network.parameters(), config.clip_norm)
        optimizer.step()
        loss.item()
        return tokens(config, split)

    return step


def gpt2_config(model: ModelConfig, attention: str) -> GPT2Config:
    """The shape of `model`, as near as GPT-2's class can come: it always has attention biases and no head bias."""
    return GPT2Config(
        vocab_size=model.vocab_size,
        n_positions=model.context_length,
        n_embd=model.width,
        n_layer=model.layers,
        n_head=model.heads,
        n_inner=model.ffn_width,
        activation_function={"gelu_tanh": "gelu_new"}.get(model.activation, model.activation),
        resid_pdrop=model.dropout,
        embd_pdrop=model.dropout,
        attn_pdrop=model.dropout,
        tie_word_embeddings=model.tied_head,
        attn_implementation=attention,
    )


def tokens(config: TrainConfig, split: TrainingData) -> int:
    """Slots of a full batch of windows; for records the work of a step is counted in steps."""
    return config.batch_size * (split.length if isinstance(split, Windows) else 1)


if __name__ == "__main__":
    main()
