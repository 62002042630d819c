"""The run library: ids that stay inside it, and whose runs are whose."""

import json
import os

import pytest

from minigpt.storage.owned import mark, new_id
from minigpt.training.runs import library
from minigpt.training.runs.library import (
    RUNS,
    command_line_runs,
    is_mine,
    put_label,
    run_folder,
    runs_of,
)

ANN, BEN = "a" * 32, "b" * 32


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGPT_RUNS", str(tmp_path))
    return tmp_path


def made(browser: str, name: str = "") -> str:
    id = new_id(browser)
    run_folder(id).mkdir()
    put_label(id, browser, name)
    return id


OUTSIDE = ["", "..", ".", "../x", "a/b", "a\\b", "/etc", "~", "-x", "a b", "x" * 101, "法", "a\0", "a\n"]


@pytest.mark.parametrize("id", OUTSIDE)
def test_an_id_never_leads_out_of_the_library(id):
    with pytest.raises(ValueError, match="an id has letters"):
        run_folder(id)


def test_the_folder_is_the_environments_or_runs_beside_the_program(runs, monkeypatch, root):
    assert run_folder("x-1") == runs / "x-1"
    monkeypatch.delenv("MINIGPT_RUNS")
    assert run_folder("x-1") == root / "runs" / "x-1"


def test_each_browser_lists_its_own_runs_newest_first(monkeypatch):
    clock = iter(range(10))
    monkeypatch.setattr(library.time, "time", lambda: next(clock))
    first, other, second = made(ANN), made(BEN), made(ANN, "twice the rate")
    assert runs_of(ANN) == [second, first]
    assert runs_of(BEN) == [other]
    assert runs_of("c" * 32) == []
    assert RUNS.label(second).name == "twice the rate"
    assert (is_mine(first, ANN), is_mine(first, BEN)) == (True, False)


def test_six_equal_digits_are_not_enough(runs):
    folder = runs / f"{mark(ANN)[:6]}-{'0' * 16}"
    folder.mkdir()
    put_label(folder.name, BEN)
    assert runs_of(ANN) == []


def test_a_run_without_label_is_on_no_list_and_anybodys(runs):
    (runs / "by-hand").mkdir()
    assert runs_of(ANN) == []
    assert is_mine("by-hand", ANN)
    assert RUNS.label("by-hand") is None


def test_a_damaged_label_is_none(runs):
    id = made(ANN)
    (run_folder(id) / "label.json").write_text('{"owner": 1')
    assert RUNS.label(id) is None
    assert runs_of(ANN) == []


def test_the_label_does_not_tell_the_secret():
    label = (run_folder(made(ANN)) / "label.json").read_text()
    assert ANN not in label and json.loads(label)["owner"] == mark(ANN)


def test_a_name_has_a_limit():
    with pytest.raises(ValueError, match="at most 60 characters, got 61"):
        made(ANN, "n" * 61)


def test_runs_of_the_command_line_are_those_without_a_label(runs):
    assert command_line_runs() == []
    made(ANN)
    names = ["old", "new", new_id(BEN), "法", "empty"]  # of the third a page has not yet said whose it is
    for place, folder in enumerate(runs / name for name in names):
        folder.mkdir()
        if folder.name != "empty":
            (folder / "run.json").write_text("{}")
            os.utime(folder / "run.json", (place, place))
    assert command_line_runs() == ["new", "old"]
