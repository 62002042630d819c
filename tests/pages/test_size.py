"""Every explorer page at GPT-2's counts: 50,257 ids, 12 blocks of 12 heads, context 1,024; only the width is small."""

from pathlib import Path

import pytest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from minigpt.config import ModelConfig, TrainConfig
from minigpt.corpus.corpus import Corpus, Record
from minigpt.model.checkpoints import save_checkpoint
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.gpt2 import END, GPT2Tokenizer
from minigpt.training.runs.resume import checkpoint_path
from minigpt.training.runs.run import Run
from minigpt.ui.overview import experiments_table
from minigpt.ui.overview.experiments_table import SENTENCES
from tests.pages.app import choose, open_app, table_of

ID = "wide"
MODEL = f"run-{ID}"
TEXTS = {"english": "The key is red. A cat sat by the door. " * 6, "chinese": "法国的首都叫巴黎。春眠不觉晓，" * 5}
MOST = 600_000  # bytes of all messages of one run of the script; the old attention page sent 2,500,000
CONFIG = ModelConfig(
    vocab_size=50_257,
    context_length=1024,
    width=24,
    heads=12,
    layers=12,
    ffn_width=96,
    activation="gelu_tanh",
    attention_bias=True,
    head_bias=False,
    tied_head=True,
    dtype="float32",
    init_std=0.2,
)
PANELS = {
    "overview": [None],
    "tokens": ["Inputs and targets", "Slots and padding", "Special ids", "Vocabulary"],
    "attention": ["One cell in numbers", "Can a position see the future?", "All heads in numbers"],
    "logits": ["Softmax in numbers", "Whole distribution", "After each block", "All positions"],
    "sampling": ["One draw in numbers", "The columns in numbers", "Twenty seeds", "With and without cache", "Export"],
}
STAGES = ("token_embedding", "scores", "weights", "ffn_linear", "ffn_gelu_tanh", "block_output", "logits")
BOXES = ("stage_terms", "stage_all", "stage_code", "stage_record", "stage_parameters")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory) -> Path:
    """A shelf with one run of the wide model, untrained, and its tokenizer of 50,000 pairs of bytes."""
    shelf = tmp_path_factory.mktemp("runs")
    pairs = [divmod(number, 256) for number in range(50_000)]
    pieces = [bytes([byte]) for byte in range(256)] + [bytes(pair) for pair in pairs] + [b""]
    tokenizer = GPT2Tokenizer(pieces, pairs, {50_256: END})
    corpus = Corpus("wide", tuple(Record(name, text) for name, text in TEXTS.items()))
    run = Run.create(shelf / ID, "gpt2-small", CONFIG, TrainConfig(), tokenizer, corpus)
    save_checkpoint(checkpoint_path(run.folder, 0), MiniGPT(CONFIG), 0, tokenizer.fingerprint)
    return shelf


@pytest.fixture(autouse=True)
def at_shelf(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIGPT_RUNS", str(shelf))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of the messages of each run of the script, the last at the end."""
    sizes, run = [], LocalScriptRunner.run

    def counted(runner, *args, **kwargs):
        tree = run(runner, *args, **kwargs)
        sizes.append(sum(message.ByteSize() for message in runner.forward_msgs()))
        return tree

    monkeypatch.setattr(LocalScriptRunner, "run", counted)
    return sizes


def text_of(name: str, positions: int = 128) -> str:
    """A record of that many positions, BOS included: two bytes a token, and words that do not fit them."""
    pairs = TEXTS[name].encode()[: 2 * positions]
    return pairs.decode("utf-8", errors="ignore")


def opened(page: str, text: str, **params: str):
    at = open_app(None if page == "overview" else page, model=MODEL, text=text, **params)
    assert not at.error
    return at


def panel(at, key: str, value):
    at.session_state[key] = value
    at.run()
    assert not at.exception, [exception.value for exception in at.exception]
    return at


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("page", PANELS)
def test_pages_and_panels_send_little(page: str, text: str, sent: list[int]):
    at = opened(page, text_of(text), position="60", block="7", head="11")
    for name in PANELS[page]:
        if name is not None:
            panel(at, f"{page}_panel", name)
        choose(at, position=len(at.session_state["workspace"].text) % 50)
    assert len(sent) > len(PANELS[page]) and max(sent) < MOST


@pytest.mark.parametrize("text", TEXTS)
def test_stages_send_little_with_every_table(text: str, sent: list[int]):
    at = opened("stages", text_of(text), position="60", block="7", head="11")
    for stage in STAGES:
        choose(at, stage=stage)
    for box in BOXES:
        panel(at, box, True)
    assert max(sent) < MOST


def test_a_long_context_is_looked_at_in_the_records_slots_and_says_so():
    at = panel(opened("tokens", "red"), "tokens_panel", "Slots and padding")
    assert "The mean divides by 3, not by 1024." in "\n".join(text.value for text in at.markdown)
    assert any("Slots 64 to 1023 are not drawn: padding too." in caption.value for caption in at.caption)
    at = opened("attention", "red")
    assert any("Not drawn: 13 padding slots" in caption.value for caption in at.caption)
    assert any("The other 1,008 slots of the context" in caption.value for caption in at.caption)
    sent = "".join(element.proto.json for element in opened("overview", "red").get("bidi_component"))
    assert "of the context of 1,024 only these slots are computed" in sent


def test_a_large_vocabulary_is_searched_and_paged():
    at = panel(opened("tokens", "red"), "tokens_panel", "Vocabulary")
    assert at.dataframe[0].value["id"].tolist() == list(range(200))
    at.number_input(key="vocabulary_from").set_value(50_200).run()
    assert at.dataframe[0].value["id"].tolist() == list(range(50_200, 50_257))
    at.text_input(key="vocabulary_search").set_value("qu").run()
    found = at.dataframe[0].value
    assert found["piece"].tolist() == ["qu"]
    assert found["made by"].tolist() == [f"rank {256 * 113 + 117}: 113 + 117  (q + u)"]
    at.text_input(key="vocabulary_search").set_value("50256").run()
    assert at.dataframe[0].value["piece"].tolist() == ["‹<|endoftext|>›"]
    at.text_input(key="vocabulary_search").set_value("no such piece").run()
    assert at.dataframe[0].value.empty and not at.exception


def test_the_edit_of_the_causality_test_is_searched():
    at = panel(opened("attention", "red cat"), "attention_panel", "Can a position see the future?")
    assert len(at.selectbox(key="edit_id").options) < 10
    at.text_input(key="edit_search").set_value("qu").run()
    assert "becomes qu. Nothing before it moved" in "\n".join(text.value for text in at.text)
    assert "changed by exactly 0." in "\n".join(text.value for text in at.text)
    at.text_input(key="edit_search").set_value("50000").run()
    assert at.selectbox(key="edit_id").value == 50_000
    at.text_input(key="edit_search").set_value("no such piece").run()
    assert any("No piece of this vocabulary" in caption.value for caption in at.caption) and not at.exception


def test_experiments_of_a_large_model_run_one_by_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(experiments_table, "LARGE", 0)
    at = opened("overview", "red cat")
    at.button(key="run_checks").click().run()
    assert at.button(key="cancel_checks")
    runs = 1
    while not any(text.value.startswith("12 of 12 checks passed.") for text in at.markdown):
        at.run()
        assert not at.exception and runs < 2 * len(SENTENCES)
        runs += 1
    assert runs > 3 and table_of(at)["Result"] == ["passed"] * len(SENTENCES)


def test_the_map_by_id_shows_a_page():
    at = panel(opened("logits", "red"), "logits_panel", "Whole distribution")
    at.segmented_control(key="order").set_value("id").run()
    at.number_input(key="map_jump").set_value(50_256).run()
    assert not at.exception and any("id 50256, **" in text.value for text in at.markdown)
