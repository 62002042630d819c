"""How fast a GPT-2 folder is opened and how much memory that takes, beside transformers; tokens beside tokenizers.

    python -m benchmarks.exchange [--rounds 3] [--vocabulary 20000]

The model has GPT-2 Small's shape with random weights, 124,439,808 numbers in float32, written once by our export.
Each opening runs in a process of its own, the two sides in turn; memory is the highest resident set from the
imports to the first forward of 8 ids, less what the imports took. The tokenizers share one vocabulary that
Hugging Face's trainer learns from the texts here; both run on one thread. All seconds are processor time; a ratio
is that of the medians.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

os.environ |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}

ROOT = Path(__file__).parents[1]
SIDES = ("minigpt", "transformers")
IDS = [[464, 1994, 318, 2266, 13, 23998, 25, 2266]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vocabulary", type=int, default=20_000)
    parser.add_argument("--open", nargs=2, metavar=("SIDE", "FOLDER"), help="used by the script itself")
    options = parser.parse_args()
    if options.open:
        print(json.dumps(opened(*options.open)))
        return
    with tempfile.TemporaryDirectory() as folder:
        openings(Path(folder), options.rounds)
        tokens(Path(folder), options.rounds, options.vocabulary)


def openings(folder: Path, rounds: int) -> None:
    """Write the folder, open it by both sides in turn, print."""
    import torch

    from minigpt.huggingface.weights import save_gpt2
    from minigpt.model.gpt import MiniGPT
    from minigpt.presets import preset

    torch.set_num_threads(1)
    model, start = MiniGPT(preset("gpt2-small").model), process_time()
    save_gpt2(folder, model)
    size = (folder / "model.safetensors").stat().st_size
    print(f"GPT-2 Small's shape, {size / 1e6:.1f} MB in float32; written in {process_time() - start:.2f} s")
    del model
    found: dict[str, list[dict]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            command = [sys.executable, "-m", "benchmarks.exchange", "--open", side, str(folder)]
            answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            found[side].append(json.loads(answer.stdout.splitlines()[-1]))
    middle = {
        side: {name: statistics.median(row[name] for row in rows) for name in rows[0]} for side, rows in found.items()
    }
    for side, row in middle.items():
        print(
            f"  {side:<13} opened in {row['seconds']:.2f} s, first 8 positions in {row['forward']:.2f} s more; "
            f"memory {row['peak'] / 1e6:,.0f} MB, {row['peak'] / size:.2f} x the file"
        )
    ours, theirs = middle["minigpt"], middle["transformers"]
    both = [row["seconds"] + row["forward"] for row in (ours, theirs)]
    print(f"  minigpt / transformers: opening {ours['seconds'] / theirs['seconds']:.2f}, opening and forward "
          f"{both[0] / both[1]:.2f}, memory {ours['peak'] / theirs['peak']:.2f}")  # fmt: skip


def opened(side: str, folder: str) -> dict:
    """Seconds of opening and of a first forward, and the memory they took, in this process."""
    import torch

    torch.set_num_threads(1)
    ids = torch.tensor(IDS)
    if side == "minigpt":
        from minigpt.huggingface.weights import load_gpt2 as load
    else:
        from transformers import GPT2LMHeadModel

        load = GPT2LMHeadModel.from_pretrained
    before, start = resident("VmRSS"), process_time()
    model = load(folder)
    seconds, start = process_time() - start, process_time()
    with torch.no_grad():
        model(ids)
    return {"seconds": seconds, "forward": process_time() - start, "peak": resident("VmHWM") - before}


def resident(name: str) -> int:
    """Bytes of this process by Linux: VmRSS now, VmHWM at most so far."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def tokens(folder: Path, rounds: int, vocabulary: int) -> None:
    """Train one vocabulary, encode each text by both sides in turn, print MB a second."""
    from tokenizers import ByteLevelBPETokenizer, Tokenizer

    from benchmarks.bpe import english_like
    from minigpt.huggingface.tokenizer_gpt2 import read_gpt2_tokenizer
    from minigpt.tokenizers.gpt2 import END

    english, chinese = (ROOT / "data" / name for name in ("english-text/text.txt", "chinese-lines/lines.txt"))
    texts = {
        "invented English, 2 MB": "\n".join(english_like(2_000_000)),
        "English prose": english.read_text(encoding="utf-8"),
        "Chinese lines": chinese.read_text(encoding="utf-8"),
    }
    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator(texts.values(), vocab_size=vocabulary, special_tokens=[END], show_progress=False)
    trainer.save(str(folder / "tokenizer.json"))
    peer, start = Tokenizer.from_file(str(folder / "tokenizer.json")), process_time()
    ours = read_gpt2_tokenizer(folder)
    print(f"one vocabulary of {ours.vocab_size:,} pieces; read by minigpt in {process_time() - start:.2f} s")
    ours.encode("Python's table of letters: é")  # made once
    for name, text in texts.items():
        same = ours.encode(text) == peer.encode(text).ids
        fresh = [speed(text, read_gpt2_tokenizer(folder).encode) for _ in range(rounds)]
        again = [speed(text, ours.encode) for _ in range(rounds)]
        theirs = [speed(text, peer.encode) for _ in range(rounds)]
        new, known, other = map(statistics.median, (fresh, again, theirs))
        print(
            f"  {name:<23} minigpt {new:5.2f} MB/s, {known:5.2f} with its words known; tokenizers {other:5.2f} MB/s; "
            f"ratio {new / other:.2f}, {known / other:.2f}; equal ids: {same}"
        )


def speed(text: str, encode: Callable) -> float:
    """Megabytes of UTF-8 a second of one call."""
    start = process_time()
    encode(text)
    return len(text.encode()) / 1e6 / (process_time() - start)


if __name__ == "__main__":
    main()
