"""Marks and ids of what readers make."""

import re
from dataclasses import dataclass

import pytest

from minigpt.storage.owned import OwnedFolders, checked_id, mark, new_id


def test_a_mark_is_the_same_each_time_and_does_not_hold_the_secret():
    assert mark("a" * 32) == mark("a" * 32) != mark("b" * 32)
    assert "a" * 8 not in mark("a" * 32) and re.fullmatch("[0-9a-f]{32}", mark("a" * 32))


def test_new_ids_differ_begin_with_the_mark_and_are_ids():
    ids = {new_id("a" * 32) for _ in range(50)}
    assert len(ids) == 50
    assert all(checked_id(id) == id and id.startswith(mark("a" * 32)[:6] + "-") for id in ids)


def test_a_fault_says_what_an_id_has():
    with pytest.raises(ValueError, match=r"an id has letters, .*, got '\.\./x'"):
        checked_id("../x")


@dataclass(frozen=True)
class Label:
    owner: str
    created: float


@pytest.mark.parametrize("label_file", ["{id}/label.json", "{id}.json"])
def test_each_browser_has_its_own_things_the_newest_first(tmp_path, monkeypatch, label_file):
    monkeypatch.setenv("MINIGPT_THINGS", str(tmp_path))
    things, ann, ben = OwnedFolders("things", Label, label_file), "a" * 32, "b" * 32
    names = [new_id(ann), new_id(ann), new_id(ben)]
    for place, (name, browser) in enumerate(zip(names, (ann, ann, ben), strict=True)):
        things.label_path(name).parent.mkdir(exist_ok=True)
        things.write_label(name, Label(mark(browser), float(place)))
    assert things.ids_of(ann) == [names[1], names[0]] and things.ids_of(ben) == [names[2]]
    things.label_path(names[1]).write_text("{")
    assert things.ids_of(ann) == [names[0]] and things.label(names[1]) is None
    assert things.label("none") is None
