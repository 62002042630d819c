"""The panel of the models page for GPT-2 folders: opened, shown on every page, taken along; without a browser."""

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from minigpt.corpus.library import bundled_corpus
from minigpt.huggingface.export import export_folder
from minigpt.huggingface.imports import look_into
from minigpt.model.gpt import MiniGPT
from minigpt.presets import PRESETS
from minigpt.storage.owned import new_id
from minigpt.tokenizers.gpt2 import END, GPT2Tokenizer
from minigpt.training.runs.create import new_run
from minigpt.training.runs.library import put_label, run_folder
from minigpt.ui.base import browser
from minigpt.ui.base.text import plain
from minigpt.ui.base.workspace import STATE
from tests.pages.app import open_app

SMALL = replace(
    PRESETS["gpt2-small"].model, vocab_size=259, context_length=64, width=16, heads=2, layers=2, ffn_width=20
)
ME = "0123456789abcdef" * 2


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stores of its own, one browser, and a folder `model` to open."""
    monkeypatch.setenv("MINIGPT_IMPORTS", str(tmp_path / "imports"))
    monkeypatch.setenv("MINIGPT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(browser, "secret", lambda: ME)
    pieces = [*(bytes([byte]) for byte in range(256)), b"re", b"red", b""]
    tokenizer = GPT2Tokenizer(pieces, [(114, 101), (256, 100)], {258: END})
    export_folder(tmp_path / "model", MiniGPT(SMALL), tokenizer)
    return tmp_path


def trained(steps: int = 2) -> str:
    """A short run of this browser on the shelf that GPT-2's architecture can hold; its id."""
    id = new_id(ME)
    base = PRESETS["chapter-7"]
    preset = replace(base, model=replace(base.model, width=16, heads=2, layers=1, ffn_width=20))
    settings = replace(base.training, steps=steps, warmup_steps=0, batch_size=2)
    run, training = new_run(run_folder(id), preset, bundled_corpus(), settings)
    for _ in run.record(training):
        pass
    put_label(id, ME)
    return id


def opened(place: Path) -> AppTest:
    """The models page after the folder was typed."""
    at = open_app("models")
    at.text_input(key="import_path").set_value(str(place / "model")).run()
    assert not at.exception
    return at


def said(at: AppTest) -> list[str]:
    return [element.value for kind in (at.success, at.error, at.warning, at.info) for element in kind]


def test_a_folder_is_looked_into_and_shown_on_every_page(place: Path):
    at = opened(place)
    facts = next(table.value for table in at.dataframe if "found" in table.value)
    values = dict(zip(facts["found"], facts["value"], strict=True))
    assert values["parameters"] == f"{look_into(place / 'model').parameters:,}"
    assert values["ids of the model, of the tokenizer"] == "259, 259"
    at.button(key="import_open").click().run()
    assert not at.exception
    name = at.session_state[STATE].model
    assert name.startswith("gpt2-")
    assert plain(f"model · {name[-4:]} now.") in said(at)[0]
    for page in ("overview", "tokens", "stages", "attention", "logits", "sampling"):
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception, (page, [fault.value for fault in at.exception])
        assert not at.error
        assert at.selectbox(key="model_choice").value == name
    again = open_app(model=name)
    assert f"model · {name[-4:]}" in again.selectbox(key="model_choice").options
    assert any("learned elsewhere" in caption.value for caption in again.caption)


def test_a_removed_import_leaves_the_pages_usable(place: Path):
    at = opened(place)
    at.button(key="import_open").click().run()
    name = at.session_state[STATE].model
    at.button(key=f"import_remove_{name}").click().run()
    assert not at.exception and at.session_state[STATE].model == "mini-gpt"
    broken = open_app(model=name)
    assert plain(f"There is no import '{name}' here: it was removed, or the link is wrong") in said(broken)


def test_a_changed_folder_is_said_once_and_can_be_opened_again(place: Path):
    at = opened(place)
    at.button(key="import_open").click().run()
    (place / "model" / "merges.txt").unlink()
    broken = open_app(model=at.session_state[STATE].model)
    assert ["has changed since it was opened here" in sentence.replace("\\", "") for sentence in said(broken)] == [True]
    at.button(key="import_open").click().run()
    assert not at.exception and not at.error


def test_what_cannot_be_opened_is_one_plain_sentence(place: Path):
    at = open_app("models")
    for path in ("/no/<b>where</b>", str(place), "$x$ **b**", "a\0b"):
        at.text_input(key="import_path").set_value(path).run()
        assert not at.exception and len(at.error) == 1
        assert "<b>" not in at.error[0].value and "**" not in at.error[0].value
    at.text_input(key="import_path").set_value(" ").run()
    assert not at.exception and not at.error


def test_on_a_network_nobody_types_a_path(place: Path, monkeypatch: pytest.MonkeyPatch):
    id, get = trained(), st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: "0.0.0.0" if name == "server.address" else get(name))
    at = open_app("models")
    keys = {element.key for element in (*at.text_input, *at.button)}
    assert not keys & {"import_path", "import_download", "export_out", "export_write"}
    assert any("where no path can be typed" in sentence for sentence in said(at))
    assert at.selectbox(key="export_run").value == id
    (place / "imports").mkdir(exist_ok=True)
    (place / "imports" / "shared").symlink_to(place / "model")
    at = open_app("models")
    at.selectbox(key="import_offered").set_value(place / "imports" / "shared").run()
    at.button(key="import_open").click().run()
    assert not at.exception and at.session_state[STATE].model.startswith("gpt2-")


def test_a_run_is_written_as_a_folder(place: Path):
    id = trained()
    at = open_app("models")
    assert [id[-4:] in option for option in at.selectbox(key="export_run").options] == [True]  # not the shipped run
    at.button(key="export_write").click().run()
    assert plain("Type the path of the new folder first") in said(at)
    at.text_input(key="export_out").set_value(str(place / "taken")).run()
    at.button(key="export_write").click().run()
    assert plain(f"Written to {place / 'taken'}.") in said(at)[0]
    assert look_into(place / "taken").config.width == 16
    at.button(key="export_write").click().run()
    assert any("is not empty" in sentence for sentence in said(at)) and not at.exception


def test_without_a_run_that_fits_the_panel_says_which_presets_do(place: Path):
    at = open_app("models")
    assert any("one of these presets does" in sentence and "chapter" in sentence for sentence in said(at))
    assert not [box for box in at.selectbox if box.key == "export_run"]
