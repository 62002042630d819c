"""How fast byte-level BPE learns and encodes, beside Hugging Face's `tokenizers` and an obvious trainer.

    python benchmarks/bpe.py            1 MB with 256 merges, 10 MB with 1,024; one core, a minute of it
    python benchmarks/bpe.py --megabytes 0.2 --merges 64

The text is made here from a fixed seed, so that every machine reads the same bytes. Both programs learn
from whole lines, each in a process of its own, whose greatest memory counts with the text and all that
was imported; minigpt also learns from the same text as one record, where tokenizers has no end. The
obvious trainer counts all pairs again for each merge; it gets a small slice of the text, and so do we
for the ratio. All seconds are processor time. Peak memory needs Linux or macOS.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from time import process_time

ONE_CORE = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
CASES = ((1.0, 256), (10.0, 1024))


def english_like(size: int, seed: int = 1) -> list[str]:
    """Lines of about 60 letters, `size` bytes in all: invented words, the frequent ones short, by Zipf's law."""
    draw = random.Random(seed)
    onsets = "th s w h t b m f r l d p c n g st ch sh tr pl".split()
    vowels, codas = "a e i o u ea ou ai".split(), ["", "", "n", "r", "t", "s", "d", "l", "nd", "ng", "st"]
    words = {"".join(draw.choice(part) for part in (onsets, vowels, codas)) for _ in range(400)}
    words |= {f"{draw.choice(sorted(words))}{draw.choice(sorted(words))}" for _ in range(4000)}
    ranked = sorted(words, key=lambda word: (len(word), word))
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(ranked))))
    lines, total = [], 0
    while total < size:
        line = " ".join(draw.choices(ranked, cum_weights=weights, k=12)).capitalize() + "."
        lines.append(line)
        total += len(line) + 1
    return lines


def timed(work, *arguments):
    """(result, seconds of processor time) of one call: what other programs do meanwhile does not count."""
    start = process_time()
    result = work(*arguments)
    return result, process_time() - start


def hugging_face(lines: list[str], merges: int):
    """The same task for `tokenizers`: byte-level BPE, whole lines, no splitting at words."""
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer

    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=len(alphabet) + merges, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def minigpt_work(texts: list[str], merges: int) -> dict:
    """Seconds of learning and encoding by minigpt, and the number of ids."""
    from minigpt.tokenizers.byte_bpe import ByteBPE

    tokenizer, learning = timed(ByteBPE.train, texts, merges)
    ids, encoding = timed(tokenizer.encode_batch, texts)
    return {"learning": learning, "encoding": encoding, "ids": sum(map(len, ids))}


def tokenizers_work(texts: list[str], merges: int) -> dict:
    """The same by tokenizers."""
    tokenizer, learning = timed(hugging_face, texts, merges)
    rows, encoding = timed(tokenizer.encode_batch, texts)
    return {"learning": learning, "encoding": encoding, "ids": sum(len(row.ids) for row in rows)}


WORKS = {
    "minigpt": minigpt_work,
    "tokenizers": tokenizers_work,
    "one record": lambda lines, merges: minigpt_work(["\n".join(lines)], merges),
}


def in_a_process(work: str, megabytes: float, merges: int) -> dict:
    """What one of WORKS measures on a fresh text in a process of its own, with its peak memory in MB."""
    command = [sys.executable, __file__, "--work", work, "--megabytes", str(megabytes), "--merges", str(merges)]
    done = subprocess.run(command, env=os.environ | ONE_CORE, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measured(work: str, megabytes: float, merges: int) -> dict:
    """The measurement itself; `bytes` counts a newline a line."""
    import resource

    lines = english_like(int(megabytes * 1e6))
    result = WORKS[work](lines, merges)
    unit = 1e6 if sys.platform == "darwin" else 1e3  # ru_maxrss is in bytes there, in KiB elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return result | {"peak": peak, "lines": len(lines), "bytes": sum(len(line) + 1 for line in lines)}


def compare(megabytes: float, merges: int) -> None:
    """Print one case: a row for each of WORKS."""
    rows = {work: in_a_process(work, megabytes, merges) for work in WORKS}
    peer, size = rows["tokenizers"], rows["minigpt"]["bytes"] / 1e6
    print(f"{size:.2f} MB in {rows['minigpt']['lines']:,} lines, {merges:,} merges")
    print("                  learning   times as fast   peak memory   encoding    times as fast         ids")
    for work, row in rows.items():
        learning, encoding = (peer[part] / row[part] for part in ("learning", "encoding"))
        print(
            f"  {work:<12} {row['learning']:9.2f} s {learning:12.2f} {row['peak']:12,.0f} MB "
            f"{size / row['encoding']:6.2f} MB/s {encoding:12.2f} {row['ids']:14,}"
        )


def compare_with_the_obvious(size: int, merges: int) -> None:
    """Print how long the obvious trainer takes for `size` bytes."""
    from minigpt.tokenizers import reference
    from minigpt.tokenizers.byte_bpe import ByteBPE

    lines = english_like(size)
    fast, quick = timed(lambda: list(ByteBPE.train_steps(lines, merges)))
    slow, seconds = timed(reference.train, lines, merges)
    same = [(step.left, step.right, step.count) for step in fast] == slow
    print(f"{sum(len(line) + 1 for line in lines):,} bytes, {merges:,} merges")
    print(f"  minigpt learns in {quick:.2f} s, the obvious trainer in {seconds:.2f} s: {seconds / quick:.1f} x as long")
    print(f"  equal merges: {same}")


def main() -> None:
    """Print the cases, or be the process of one of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, help="of text, in place of the two cases")
    parser.add_argument("--merges", type=int, default=256, help="with --megabytes")
    parser.add_argument("--slice", type=int, default=20_000, help="bytes for the obvious trainer")
    parser.add_argument("--work", choices=WORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(measured(options.work, options.megabytes, options.merges)))
        return
    if find_spec("tokenizers") is None:
        raise SystemExit("the peer is not installed: pip install -r requirements-dev.txt")
    for megabytes, merges in CASES if options.megabytes is None else [(options.megabytes, options.merges)]:
        compare(megabytes, merges)
    compare_with_the_obvious(options.slice, options.merges)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
