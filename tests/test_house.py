"""The rules of the house: which folder may import which, how large a folder is, and names that are not used twice."""

import ast
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["overview", "tokens", "stages", "attention", "logits", "training", "sampling", "corpus", "models"]
# From bottom to top: a room imports rooms of lower floors and itself, never one beside it.
FLOORS = [
    ["minigpt"],
    ["minigpt/storage"],
    ["minigpt/tokenizers"],
    ["minigpt/model"],
    ["minigpt/corpus"],
    ["minigpt/generation"],
    ["minigpt/training"],
    ["minigpt/huggingface"],
    ["minigpt/inspection"],
    ["minigpt/sizing"],
    ["minigpt/figures"],
    ["minigpt/cli"],
    ["minigpt/ui/base"],
    ["minigpt/ui/components"],
    ["minigpt/ui/shared"],
    [f"minigpt/ui/{page}" for page in PAGES],
    ["minigpt/ui/frame"],
    ["pages", ""],
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
ROOT_MODULES = {"__init__", "__main__", "config", "limits", "presets", "sentences", "validation"}
FILES = 15  # of a folder, at most; `__init__.py` is not counted

# Names of the project's first years, for which the field has better ones.
OLD_MODULES = set(
    """desk held service feed moves recorder start shelf bench looked_at slots words pair_queue merging contract
    byte_letters worked arithmetic evidence reading conventions doubling keeping stations attending opening playing
    watching fitting continuity notation""".split()
)
FINE_ON_PAGES = {"reading", "words"}  # where a page says how a file or a text was read, and in which words
OLD_NAMES = set(
    """Chain RowNorm thought scored looked_at worked shelf bench desk recorder continuity contract stations
    conventions doubling pair_queue byte_letters notation feed""".split()
)
# Turns that stop a reader.
TURNS = [
    r"(?<!there )\b(?:is|are|was) no (?!longer|more|less|better|larger|one\b)[a-z]",
    r"\bhow (?:it|they) stands?\b",
    r"\bstands? in\b",
    r"\bmend(?:s|ed|ing)?\b",
    r"\breckon",
    r"\btak(?:e|es|en|ing) along\b",
    r"\bhalf a character\b",
    r"\banew\b",
    r"\bnobody\b",
]
SELDOM = [r"\bof (?:its|their) own\b", r"\bby (?:itself|themselves)\b"]  # fine where meant; not a habit
AT_MOST = 25
# An f-string is one token up to Python 3.11, several from 3.12 on.
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


@cache
def sources() -> dict[str, ast.Module]:
    """The product's files, by their path from the root."""
    paths = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "minigpt").rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(paths)}


def room_of(path: str) -> str:
    """The folder on a floor that a file belongs to: minigpt/model for minigpt/model/kernels/decode.py."""
    parts = path.split("/")[:-1]
    return "/".join(parts[: 3 if parts[:2] == ["minigpt", "ui"] else 2])


def imported(path: str, for_types: bool = True) -> set[str]:
    """The files of the product that a file imports anywhere, inside functions too."""
    found: set[str] = set()
    skipped: set[ast.AST] = set()
    for node in ast.walk(sources()[path]):
        if not for_types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            skipped |= {inner for part in node.body for inner in ast.walk(part)}
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, f"{path}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if node not in skipped:
            found |= {file for name in names if (file := _file_of(name)) is not None}
    return found


def _file_of(name: str) -> str | None:
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        for end in (".py", "/__init__.py"):
            if (found := "/".join(parts[:length]) + end) in sources():
                return found
    return None


def test_every_room_is_on_a_floor():
    rooms = {room_of(path) for path in sources()} - {"minigpt/ui"}
    assert rooms == set(FLOOR)


def test_the_drawn_tree_has_every_room_in_order():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = re.findall(r"^  (\S+)/  ", text, re.MULTILINE)
    floors = [FLOOR[f"minigpt/{room}"] for room in tree]
    assert floors == sorted(floors, reverse=True) and len(tree) == len(FLOOR) - 3  # the root, pages, app.py


def test_imports_run_downwards():
    wrong = set()
    for path in sources():
        here = room_of(path)
        for other in imported(path):
            there = room_of(other)
            if path.endswith("__main__.py") and here == "minigpt":
                fine = FLOOR[there] <= FLOOR["minigpt/cli"]
            else:
                fine = here == there or there == "minigpt/ui" or FLOOR.get(there, 99) < FLOOR[here]
            if not fine:
                wrong.add(f"{path} imports {other}")
    assert not wrong, "\n" + "\n".join(sorted(wrong))


def test_no_circle_of_modules():
    graph = {path: set(imported(path, for_types=False)) - {path} for path in sources()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {error.args[1]}")


def test_the_library_loads_no_interface():
    modules = [
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in sources()
        if path.startswith("minigpt") and not path.startswith(("minigpt/ui", "minigpt/figures"))
    ]
    modules = [module for module in modules if module != "minigpt.__main__"] + ["minigpt.__main__"]
    code = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        "print(sorted({'streamlit', 'plotly', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_folder_is_seen_at_a_glance():
    counts: dict[str, int] = defaultdict(int)
    for path in sources():
        folder, _, name = path.rpartition("/")
        counts[folder] += name != "__init__.py"
    assert {folder: count for folder, count in counts.items() if count > FILES} == {}
    modules = {Path(path).stem for path in sources() if path.count("/") == 1 and path.startswith("minigpt/")}
    assert modules <= ROOT_MODULES


def test_two_classes_never_share_a_name():
    found = defaultdict(list)
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path)
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_names_are_the_fields():
    old = [path for path in sources() if Path(path).stem in OLD_MODULES - (FINE_ON_PAGES if "/ui/" in path else set())]
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in OLD_NAMES:
                old.append(f"{path}:{node.lineno} {node.name}")
    assert not old, "\n" + "\n".join(old)


@cache
def prose() -> list[tuple[str, str]]:
    """Every comment, and every string of several words, with its place."""
    found = []
    for path in sources():
        with (ROOT / path).open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                if token.type in (tokenize.COMMENT, *STRINGS) and " " in token.string:
                    for number, line in enumerate(token.string.splitlines(), token.start[0]):
                        found.append((f"{path}:{number}", line.strip()))
    return found


def test_sentences_are_plain():
    turns, seldom = (re.compile("|".join(kinds), re.IGNORECASE) for kinds in (TURNS, SELDOM))
    found = [f"{place} {line}" for place, line in prose() if turns.search(line)]
    habits = [f"{place} {line}" for place, line in prose() if seldom.search(line)]
    found += habits if len(habits) > AT_MOST else []
    assert not found, f"{len(found)} lines\n" + "\n".join(found)


def test_layout_is_left_to_the_formatter():
    skipped = [path for path in sources() if "fmt: skip" in (ROOT / path).read_text(encoding="utf-8")]
    assert skipped == []
