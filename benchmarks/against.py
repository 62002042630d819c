"""How fast this checkout is beside another one, such as an older commit, in one run.

    git worktree add ../before SOME_COMMIT
    python benchmarks/against.py ../before [--rounds 40]

One process in each checkout, one thread each; they take turns in short blocks, and what is compared is processor
time, so that other work on the machine disturbs both alike. A ratio is the median over the rounds: 1.02 is 2 % more
time than the other checkout takes.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

WORKER = """
import os, sys, time
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, ".")
import torch
torch.set_num_threads(1)
from benchmarks import generation, training
from dataclasses import replace
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate
from minigpt.model.gpt import MiniGPT
from minigpt.presets import preset
from minigpt.tokenizers.byte_bpe import ByteBPE

def trainer(case):
    step = training.ours(*training.case_of(case))
    step(), step()
    return lambda: [step() for _ in range(training.BLOCKS[case] * 2)]

def speaker():
    config = preset("chapter-7").model
    model = generation.silent(MiniGPT(replace(config, context_length=256)).eval())
    settings = SampleConfig(temperature=0.0, max_new_tokens=200)
    return lambda: list(generate(model, ByteBPE(), generation.PROMPT, settings))

work = {case: trainer(case) for case in ("mg-1", "chapter-7", "chapter-7-plain")} | {"generation": speaker()}
print("ready", flush=True)
for line in sys.stdin:
    started = time.process_time()
    work[line.strip()]()
    print(time.process_time() - started, flush=True)
"""
CASES = ("mg-1", "chapter-7", "chapter-7-plain", "generation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="the folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    options = parser.parse_args()
    workers = [Worker(options.other), Worker(Path(__file__).resolve().parents[1])]
    for case in options.cases:
        for worker in workers:
            worker.seconds(case)
        rounds = [[worker.seconds(case) for worker in workers] for _ in range(options.rounds)]
        before, here = (statistics.median(times) for times in zip(*rounds, strict=True))
        ratio = statistics.median(own / other for other, own in rounds)
        print(f"{case:<16} other {before * 1000:8.1f} ms  here {here * 1000:8.1f} ms  ratio {ratio:.3f}", flush=True)


class Worker:
    """A process in one checkout that runs a block on request and says how much processor time it took."""

    def __init__(self, folder: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        )
        assert self.process.stdout and self.process.stdout.readline() == "ready\n", f"no benchmark starts in {folder}"

    def seconds(self, case: str) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


if __name__ == "__main__":
    main()
