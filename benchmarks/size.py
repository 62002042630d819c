"""What a page costs at a model's size: python benchmarks/size.py [--model gpt2-small] [--positions 128]

Opens every explorer page without a browser, then each of its panels, and moves to another position once. Prints
the processor time of the server and the bytes of all messages of that last run of the script, and at the end the
greatest memory of the process. Needs the packages of requirements-dev.txt; GPT-2 Small's shape takes 1.2 GB.
"""

import argparse
import os
import resource
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from minigpt.inspection.sources import load_source, source_steps
from minigpt.ui.shared.examples import beginning
from tests.pages.app import choose, open_app

TEXT = "The key is red. A cat sat by the door. " * 100
PANELS = {
    "overview": [None],
    "tokens": ["Inputs and targets", "Slots and padding", "Special ids", "Vocabulary"],
    "stages": ["token_embedding", "ffn_linear", "weights", "logits"],
    "attention": ["One cell in numbers", "Can a position see the future?", "All heads in numbers"],
    "logits": ["Softmax in numbers", "Whole distribution", "After each block", "All positions"],
    "sampling": ["One draw in numbers", "The columns in numbers"],
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="gpt2-small", help="source to look at (default: gpt2-small)")
    parser.add_argument("--positions", type=int, default=128, help="of the record, BOS included (default: 128)")
    options = parser.parse_args()
    sent = count_messages()
    tokenizer = load_source(options.model, source_steps(options.model)[-1])[1]
    text = beginning(TEXT, tokenizer, options.positions)
    print(f"{'page':<10} {'panel':<32} {'server ms':>9} {'bytes':>9}")
    for page, panels in PANELS.items():
        at = open_app(None if page == "overview" else page, model=options.model, text=text, position="5")
        for number, panel in enumerate(panels):
            show(at, page, panel)
            started = time.process_time()
            choose(at, position=6 + number)
            spent = 1000 * (time.process_time() - started)
            print(f"{page:<10} {panel or '':<32} {spent:>9.0f} {sent[-1]:>9,}", flush=True)
    print(f"greatest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def count_messages() -> list[int]:
    """Bytes of the messages of each run of a script from now on, the last at the end."""
    sizes, run = [], LocalScriptRunner.run

    def counted(runner, *args, **kwargs):
        tree = run(runner, *args, **kwargs)
        sizes.append(sum(message.ByteSize() for message in runner.forward_msgs()))
        return tree

    LocalScriptRunner.run = counted
    return sizes


def show(at: AppTest, page: str, panel: str | None) -> None:
    """Open a panel, or a stage of the stages page."""
    if page == "stages":
        choose(at, stage=panel)
    elif panel is not None:
        at.session_state[f"{page}_panel"] = panel
        at.run()


if __name__ == "__main__":
    main()
