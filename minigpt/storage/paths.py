"""Where things are: the checkout, and the four folders in it that hold data.

Readers' runs, corpora and opened models can be put elsewhere with `MINIGPT_RUNS`, `MINIGPT_CORPORA` and
`MINIGPT_IMPORTS`; `data` ships with the project.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"


def data_folder(name: str) -> Path:
    """The folder `name` ("runs", "corpora" or "imports"): `MINIGPT_<NAME>`, else in the checkout."""
    return Path(os.environ.get(f"MINIGPT_{name.upper()}") or ROOT / name).absolute()
