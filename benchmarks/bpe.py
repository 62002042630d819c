"""How fast byte-level BPE learns and encodes, beside an obvious trainer and Hugging Face's `tokenizers`.

    python benchmarks/bpe.py            1 MB of text, 256 merges, one core
    python benchmarks/bpe.py --megabytes 0.2 --merges 64

The text is made here from a fixed seed, so that every machine reads the same bytes. The obvious trainer
counts all pairs again for each merge; it gets a small slice of the text, and so do we for the ratio.
All seconds are processor time.
"""

import argparse
import os
import random
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate, pairwise
from pathlib import Path
from time import process_time

os.environ["RAYON_NUM_THREADS"] = "1"  # read by Hugging Face's tokenizers when they are imported
os.environ["TOKENIZERS_PARALLELISM"] = "false"

FIRST_MERGE = 259


def slow_merge(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Replace `pair` from left to right without overlap.

    >>> slow_merge([1, 1, 1, 2], (1, 1), 9)
    [9, 1, 2]
    """
    merged, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def slow_train(texts: Iterable[str], merges: int) -> list[tuple[int, int, int]]:
    """The obvious trainer, (left, right, count) a merge: count every pair of every text again, each time.

    >>> slow_train(["red red"], 2)
    [(101, 100, 2), (114, 259, 2)]
    """
    rows, learned = [list(text.encode()) for text in texts], []
    for rank in range(merges):
        counts = Counter(pair for row in rows for pair in pairwise(row))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        learned.append((*best, counts[best]))
        rows = [slow_merge(row, best, FIRST_MERGE + rank) for row in rows]
    return learned


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


def main() -> None:
    """Train, encode, compare, print."""
    from minigpt.tokenizers.byte_bpe import ByteBPE

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1.0)
    parser.add_argument("--merges", type=int, default=256)
    parser.add_argument("--slice", type=int, default=20_000, help="bytes for the obvious trainer")
    options = parser.parse_args()

    lines = english_like(int(options.megabytes * 1e6))
    megabytes = sum(len(line) + 1 for line in lines) / 1e6
    print(f"{megabytes:.2f} MB in {len(lines):,} lines, {options.merges} merges")
    tokenizer, ours = timed(ByteBPE.train, lines, options.merges)
    print(f"minigpt trains              {ours:8.2f} s  ({megabytes / ours:.2f} MB/s)")
    ids, seconds = timed(tokenizer.encode_batch, lines)
    count = sum(map(len, ids))
    print(f"minigpt encodes, batch      {seconds:8.2f} s  ({megabytes / seconds:.2f} MB/s, {count:,} ids)")
    whole, seconds = timed(tokenizer.encode, "\n".join(lines))
    print(f"minigpt encodes, one text   {seconds:8.2f} s  ({megabytes / seconds:.2f} MB/s, {len(whole):,} ids)")

    part = english_like(min(options.slice, int(options.megabytes * 1e6)))
    fast, quick = timed(lambda: list(ByteBPE.train_steps(part, options.merges)))
    slow, seconds = timed(slow_train, part, options.merges)
    same = [(step.left, step.right, step.count) for step in fast] == slow
    print(f"on {sum(len(line) + 1 for line in part):,} bytes of it:")
    print(f"  minigpt trains            {quick:8.2f} s")
    print(f"  the obvious trainer       {seconds:8.2f} s  ({seconds / quick:.1f} x as long, equal merges: {same})")

    try:
        peer, seconds = timed(hugging_face, lines, options.merges)
    except ImportError:
        print("Hugging Face tokenizers are not installed")
        return
    print(f"tokenizers trains           {seconds:8.2f} s  ({seconds / ours:.1f} x as long as minigpt)")
    encoded, seconds = timed(peer.encode_batch, lines)
    count = sum(len(row.ids) for row in encoded)
    print(f"tokenizers encodes, batch   {seconds:8.2f} s  ({megabytes / seconds:.2f} MB/s, {count:,} ids)")


if __name__ == "__main__":
    import sys

    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
