"""The training page and the time machine, without a browser: the page's own trainer, its messages, its runs."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.library import bundled_corpus
from minigpt.inspection.sources import BUNDLED_RUN, load_source, source_steps
from minigpt.presets import preset
from minigpt.tokenizers.labels import visible_label
from minigpt.training.runs.create import new_run
from minigpt.training.runs.library import runs_of
from minigpt.training.runs.run import Run
from minigpt.training.server.client import RunState
from minigpt.ui.frame import playback
from minigpt.ui.shared import trainer
from minigpt.ui.training.samples import _thinned
from minigpt.ui.training.settings import settle
from tests.pages.app import open_app, table_of, unfold

GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text())["own_corpus_run"]


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MINIGPT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture(scope="module", autouse=True)
def no_trainer_left():
    yield
    trainer.trainer().close()
    trainer.trainer.clear()


def begin(at, **fields):
    """Set fields of the mg-1 preset and press Start."""
    unfold(at)
    for name, value in fields.items():
        at.number_input(key=f"train_mg-1_{name}").set_value(value)
    at.button(key="train_start").click().run()
    assert not at.exception
    return at.session_state["workspace"].run


def wait_until(id: str, *statuses: str) -> RunState:
    """How the run stands as soon as it is one of `statuses`; the page is not looked at meanwhile."""
    while (now := trainer.state(id)).status not in statuses:
        assert now.status.in_trainer, now
        time.sleep(0.05)
    return now


def errors(at) -> list[str]:
    return [error.value.replace("\\", "") for error in at.error]


def texts(at) -> str:
    return "\n".join(markdown.value for markdown in at.markdown).replace("\\", "")


def metrics(at) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def numbers(at) -> dict[str, str]:
    """The row of numbers above the curve: its headings and values."""
    table = next(markdown.value for markdown in at.markdown if "| Batch loss |" in markdown.value)
    names, _, values = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    return dict(zip(names, values, strict=True))


def chart(at, place: int = 0) -> dict:
    return json.loads(at.get("echarts_chart")[place].proto.spec)


def test_the_pages_trainer_gives_the_published_run(runs):
    at = open_app("training")
    id = begin(at)
    wait_until(id, "finished")
    at.run()
    rows = {row.step: row for row in Run(runs / id).evaluations()}
    for step, train_loss, validation_loss in GOLDEN["curve"]:
        found = [rows[step].train_loss, rows[step].validation_loss]
        assert found == pytest.approx([train_loss, validation_loss], rel=0, abs=GOLDEN["tolerance"])
    shown = numbers(at)
    assert shown["Step"] == "600 / 600"
    assert shown["Best validation loss"] == f"2.2471 at {GOLDEN['selected_step']}"
    assert "From step 100 on it only memorizes" in texts(at) and "rose from 2.2471 to 3.0395 nats" in texts(at)
    assert (
        "it beats guessing by frequency (unigram) but not guessing from the last piece (bigram), "
        "both at its best, step 100, and at step 600" in texts(at)
    )
    assert "stays near" in texts(at) and "Finished after 600 steps." in texts(at)
    labels = [level["label"]["formatter"] for level in chart(at)["series"][0]["markLine"]["data"]]
    assert labels == ["ln V 5.673", "unigram 4.440", "bigram 2.205", "trigram 1.597"]
    assert chart(at)["series"][0]["markPoint"]["data"] == [{"coord": [100, rows[100].validation_loss]}]
    assert at.button(key="train_play").disabled and at.button(key="train_stop").disabled
    assert at.query_params["run"] == id


def test_before_the_first_run_the_shipped_one_is_on_show():
    at = open_app("training")
    assert chart(at)["xAxis"]["max"] == 600
    assert all(at.button(key=f"train_{name}").disabled for name in ("play", "step", "stop", "reset"))
    assert "Press Start" in at.info[0].value


def test_step_play_pause_stop_resume_reset(runs):
    at = open_app("training")
    at.segmented_control(key="training_speed").set_value(1.0).run()
    id = begin(at, steps=500)
    at.button(key="train_pause").click().run()
    before = int(numbers(at)["Step"].split()[0])
    at.button(key="train_step").click().run()
    assert numbers(at)["Step"] == f"{before + 1} / 500"
    assert f"Step {before + 1} in slow motion" in [title.value for title in at.subheader]
    batch, moves = (at.dataframe[place].value for place in (0, 1))  # above the samples
    details = json.loads((runs / id / "details.json").read_text())
    records = bundled_corpus().train
    assert batch["text"].tolist() == [records[row].text for row in details["records"]]
    assert moves["moved by"].is_monotonic_decreasing and len(moves) == len(details["moves"])
    at.button(key="train_stop").click().run()
    assert f"Stopped after step {before + 1}" in texts(at)
    assert at.button(key="train_stop").disabled
    at.segmented_control(key="training_speed").set_value(0.0).run()
    at.button(key="train_play").click().run()
    wait_until(id, "finished")
    losses = Run(runs / id).metrics()[0]
    at.run()
    at.button(key="train_reset").click().run()
    assert "Ready at step 0." in texts(at) and numbers(at)["Step"] == "0 / 500"
    at.button(key="train_play").click().run()
    wait_until(id, "finished")
    assert Run(runs / id).metrics()[0] == losses


def test_steps_shown_and_scale_stay_through_updates():
    at = open_app("training")
    id = begin(at, steps=100)
    at.slider(key="train_span_100").set_value((20, 60)).run()
    at.toggle(key="train_log").set_value(True).run()
    wait_until(id, "finished")
    at.run()
    assert (chart(at)["xAxis"]["min"], chart(at)["xAxis"]["max"]) == (20, 60)
    assert chart(at)["yAxis"]["type"] == "log"
    at.switch_page("pages/tokens.py").run()
    at.switch_page("pages/training.py").run()
    assert (chart(at)["xAxis"]["min"], chart(at)["yAxis"]["type"]) == (20, "log")


def test_a_learning_rate_beyond_reason_fails_with_one_message():
    at = open_app("training")
    id = begin(at, learning_rate=1000.0)
    wait_until(id, "failed")
    at.run()
    assert len(errors(at)) == 1
    assert errors(at)[0].startswith("This run failed: step 2: loss ")
    assert "a learning rate below 1000 may help" in errors(at)[0]
    assert "0" in at.select_slider(key="step_choice").options  # the strip is as usable as before


def delete(folder: Path, tmp_path: Path) -> None:
    """Take a folder away at once: while its files go one by one, the trainer would write new ones."""
    shutil.rmtree(folder.rename(tmp_path / "gone"))


def test_a_folder_that_cannot_be_written_gets_one_message(runs, tmp_path, monkeypatch):
    at = open_app("training")
    runs.write_text("a file where the folder should be")
    begin(at)
    assert len(errors(at)) == 1 and errors(at)[0].startswith("Cannot write the new run")
    runs.unlink()
    at.segmented_control(key="training_speed").set_value(1.0).run()
    id = begin(at)
    at.button(key="train_pause").click().run()
    delete(runs / id / "checkpoints", tmp_path)
    (runs / id / "checkpoints").write_text("")
    at.segmented_control(key="training_speed").set_value(0.0).run()
    at.button(key="train_play").click().run()
    wait_until(id, "failed")
    at.run()
    assert len(errors(at)) == 1 and "cannot write in the run folder" in errors(at)[0]


def test_a_deleted_run_folder_gets_one_message_and_the_page_stays_usable(runs, tmp_path):
    at = open_app("training")
    id = begin(at, steps=5000)
    delete(runs / id, tmp_path)
    while trainer.trainer().state(runs / id).status.active:
        time.sleep(0.05)
    at.run()
    assert len(errors(at)) == 1 and "was deleted" in errors(at)[0]
    wait_until(begin(at, steps=20), "finished")
    at.run()
    assert not at.error and numbers(at)["Step"] == "20 / 20"


@pytest.mark.parametrize("id", ["none-such", "../data", "<b>x</b>"])
def test_a_link_to_no_run_gets_one_message(id):
    at = open_app("training", run=id)
    assert len(errors(at)) == 1
    wait_until(begin(at, steps=20), "finished")
    at.run()
    assert not at.error


def test_wrong_settings_are_told_before_start(runs):
    at = unfold(open_app("training"))
    at.number_input(key="train_mg-1_steps").set_value(10).run()
    at.number_input(key="train_mg-1_warmup_steps").set_value(10).run()
    assert errors(at) == ["Warmup_steps must be below steps, got 10 of 10"]
    assert at.button(key="train_start").disabled
    at.number_input(key="train_mg-1_warmup_steps").set_value(2).run()
    assert not at.error and not at.button(key="train_start").disabled


def test_every_field_reaches_the_run(runs):
    at = unfold(open_app("training"))
    at.selectbox(key="train_mg-1_optimizer").set_value("adamw").run()
    id = begin(at, steps=4, batch_size=3, weight_decay=0.1, clip_norm=0.5, init_seed=5, dropout=0.2, evaluate_every=2)
    wait_until(id, "finished")
    info = Run(runs / id).info
    assert (info.training.steps, info.training.batch_size, info.training.optimizer) == (4, 3, "adamw")
    assert (info.training.weight_decay, info.training.clip_norm, info.model.init_seed) == (0.1, 0.5, 5)
    assert info.model.dropout == 0.2


def test_settings_count_although_they_are_folded_away(runs):
    at = unfold(open_app("training"))
    at.number_input(key="train_mg-1_batch_size").set_value(3).run()
    at.text_input(key="train_name").set_value("three").run()
    at.session_state["train_more"] = False
    at.run()
    assert "train_mg-1_batch_size" not in [box.key for box in at.number_input]
    at.number_input(key="train_mg-1_steps").set_value(2).run()
    at.button(key="train_start").click().run()
    id = at.session_state["workspace"].run
    wait_until(id, "finished")
    assert Run(runs / id).info.training.batch_size == 3
    assert unfold(at).number_input(key="train_mg-1_batch_size").value == 3
    assert at.text_input(key="train_name").value == "three"


def test_a_changed_shape_is_told_beside_start_and_in_the_name_of_the_run():
    at = open_app("training")
    captions = lambda: "\n".join(caption.value for caption in at.caption).replace("\\", "")  # noqa: E731
    assert "One block" in captions()
    id = begin(at, steps=2, width=24, heads=3)
    unfold(at)
    assert "mg-1, changed: width = 24, heads = 3." in captions() and "One block" not in captions()
    wait_until(id, "finished")
    at.run()
    assert f"Run: mg-1, changed: width = 24, heads = 3; rate 0.01 · {id[-4:]}" in at.selectbox(key="run_choice").options


def test_limits_of_steps_and_of_runs_under_way(monkeypatch):
    monkeypatch.setenv("MINIGPT_RUN_STEPS", "1000")
    monkeypatch.setenv("MINIGPT_RUNS_A_BROWSER", "1")
    at = open_app("training")
    begin(at, steps=1001)
    assert errors(at) == ["Steps must be at most 1,000, got 1,001"]
    at.segmented_control(key="training_speed").set_value(1.0).run()
    first = begin(at, steps=100)
    begin(at)
    assert errors(at) == ["1 runs of this browser are under way, at most 1 are allowed; stop one first"]
    assert at.session_state["workspace"].run == first
    at.button(key="train_stop").click().run()
    assert not at.error


def test_another_browser_sees_nothing_but_a_shared_run_which_it_cannot_steer(runs):
    ann, ben = open_app("training"), open_app("training")
    id = begin(ann, steps=30)
    wait_until(id, "finished")
    ann.run()
    ben.run()
    assert [f"run-{id}"] == [name for name in ids(ann, "model_choice") if name.startswith("run-")]
    assert not [name for name in ids(ben, "model_choice") if name.startswith("run-")]
    guest = open_app("training", run=id)
    assert numbers(guest)["Step"] == "30 / 30"
    assert guest.button(key="train_reset").disabled
    assert not ann.button(key="train_reset").disabled
    assert "Another browser made this run" in "\n".join(caption.value for caption in guest.caption)


def ids(at, key: str) -> list[str]:
    """Option ids by their labels: a run's label begins or ends with the last four characters of its id."""
    found = {id[-4:]: f"run-{id}" for browser in [at.session_state["minigpt_browser"]] for id in runs_of(browser)}
    return [found.get(label[:4], found.get(label[-4:], label)) for label in at.selectbox(key=key).options]


def test_the_time_machine_shows_each_saved_step_of_a_run(runs):
    at = open_app("training")
    id = begin(at, steps=10)
    wait_until(id, "finished")
    at.run()
    at.button(key="train_look").click().run()
    assert (
        at.session_state["workspace"].step
        == min((row for row in Run(runs / id).evaluations()), key=lambda row: row.validation_loss).step
    )
    assert at.select_slider(key="step_choice").options == ["0", "1", "2", "4", "8", "10"]
    at.switch_page("pages/overview.py").run()
    at.select_slider(key="step_choice").set_value(4).run()
    assert not at.exception and not at.error
    assert (at.query_params["model"], at.query_params["step"]) == (f"run-{id}", "4")
    linked = open_app(model=f"run-{id}", step="8")
    assert linked.select_slider(key="step_choice").value == 8


def test_play_walks_through_the_steps_and_stops_at_the_end(monkeypatch):
    at = open_app()
    steps = source_steps("mini-gpt")
    at.select_slider(key="step_choice").set_value(steps[-3]).run()
    monkeypatch.setattr(playback, "SECONDS", 0.0)
    at.session_state[playback.STATE] = 0.0
    seen = []
    for _ in range(3):
        playing_on = playback.STATE in at.session_state
        at = step_once(at)
        seen.append((playing_on, at.session_state["workspace"].step))
    assert seen == [(True, steps[-2]), (True, steps[-1]), (False, steps[-1])]


def step_once(at):
    at.run()
    assert not at.exception
    return at


def test_a_checkpoint_of_another_tokenizer_is_refused_in_one_message(runs):
    at = open_app("training")
    id = begin(at, steps=10)
    wait_until(id, "finished")
    shutil.copy(BUNDLED_RUN / "checkpoints" / "step-000100.safetensors", runs / id / "checkpoints" / "other")
    run = Run(runs / id)
    other = json.loads((runs / id / "run.json").read_text())
    (runs / id / "run.json").write_text(json.dumps(other | {"tokenizer": "0" * 16}))
    at = open_app(model=f"run-{id}", step="4")
    assert len(errors(at)) == 1
    assert "0000000000000000" in errors(at)[0] and other["tokenizer"] in errors(at)[0]
    at.selectbox(key="model_choice").set_value("mini-gpt").run()
    assert not at.error and run.steps


def test_hostile_names_are_shown_as_they_are_in_options_only(runs):
    name = "<img src=x onerror=alert(1)> **b** $x$ :red[c]"
    at = unfold(open_app("training"))
    at.text_input(key="train_name").set_value(name).run()
    id = begin(at, steps=3)
    wait_until(id, "finished")
    at.run()
    assert f"{name}: mg-1, rate 0.01 · {id[-4:]}" in at.selectbox(key="run_choice").options
    assert "onerror" not in texts(at)


def test_overlay_names_the_settings_that_differ(runs):
    at = open_app("training")
    first = begin(at, steps=20)
    wait_until(first, "finished")
    second = begin(at, steps=20, learning_rate=0.003)
    wait_until(second, "finished")
    at.run()
    at.multiselect(key="train_others").set_value([first]).run()
    assert not at.exception
    table = at.dataframe[-1].value
    assert table["setting"].tolist() == ["learning_rate"]
    assert table.iloc[0, 1:].tolist() == ["0.003", "0.01"]
    assert len(chart(at)["series"]) == 4 and chart(at)["series"][3]["lineStyle"]["type"] == "dashed"


def test_samples_of_the_run_itself_stand_below_its_curve(runs):
    at = open_app("training")
    unfold(at)
    key = next(box.key for box in at.text_area if box.key.startswith("train_mg-1_sample_prompts"))
    at.text_area(key=key).set_value("The key is\n").run()
    id = begin(at, steps=60, sample_every=5)
    wait_until(id, "finished")
    at.run()
    table, samples = table_of(at), Run(runs / id).samples()
    assert list(table) == ["step", "The·key·is", "(from nothing)"]
    assert table["step"] == ["0", "5", "10", "15", "20", "25", "30", "35", "40", "45", "50", "60"]
    tokenizer = Run(runs / id).tokenizer()
    texts = {(one.step, one.prompt): visible_label(tokenizer.decode_bytes(one.ids)) for one in samples}
    captions = "\n".join(caption.value for caption in at.caption).replace("\\", "")
    assert "U+FFFD" not in "".join(table["(from nothing)"]) and "Step 0 is untrained" in captions
    assert "1 step is left out; the first, the best and the last are here." in captions
    assert table["The·key·is"][-1] == texts[60, "The key is"]
    assert table["(from nothing)"][0] == texts[0, ""]
    id = begin(at, steps=5, sample_every=0)
    wait_until(id, "finished")
    at.run()
    assert not any(element.proto.component_name == "minigpt.table" for element in at.get("bidi_component"))


def test_thinning_keeps_the_first_the_best_and_the_last():
    steps = list(range(0, 1000, 10))
    for keep in (0, 10, 130, 500, 980, 990):
        found = _thinned(steps, 12, keep)
        assert len(found) == 12 and found == sorted(set(found)) and {0, 990, keep} <= set(found)
    assert _thinned(steps, 12, 5) == _thinned(steps, 12) and _thinned([0, 5], 12, 5) == [0, 5]


def test_a_prompt_the_tokenizer_cannot_read_is_refused_before_the_start(runs):
    at = open_app("training")
    unfold(at)
    at.selectbox(key="train_mg-1_kind").set_value("chars").run()
    key = next(box.key for box in at.text_area if box.key.startswith("train_mg-1_sample_prompts"))
    at.text_area(key=key).set_value("The key is ☃").run()
    assert begin(at, steps=5) is None
    assert len(errors(at)) == 1 and "☃" in errors(at)[0]
    assert not list(runs.glob("*-*"))


def test_runs_of_the_command_line_can_be_chosen(runs):
    chosen = replace(preset("mg-1"), training=replace(preset("mg-1").training, steps=2))
    run, training = new_run(runs / "by-hand", chosen, bundled_corpus(), chosen.training)
    list(run.record(training))
    at = open_app("training")
    assert "Command line: mg-1, rate 0.01 · by-hand" in at.selectbox(key="run_choice").options
    at.selectbox(key="run_choice").set_value("by-hand").run()
    assert numbers(at)["Step"] == "2 / 2" and not at.button(key="train_reset").disabled


def test_samples_over_time_are_what_the_saved_steps_say(runs):
    from minigpt.generation.settings import SampleConfig
    from minigpt.generation.stepping import generate, prompt_ids

    at = open_app("training")
    id = begin(at, steps=100)
    wait_until(id, "finished")
    at.session_state["train_samples"] = True
    at.run()
    assert not at.exception and not at.error
    table = at.dataframe[-1].value
    assert table["step"].tolist() == [0, 50, 100]
    model, tokenizer = load_source(f"run-{id}", 100)
    drawn = list(generate(model, tokenizer, prompt_ids(tokenizer, "The key is"), SampleConfig(0.0, max_new_tokens=32)))
    text = tokenizer.decode_bytes(step.id for step in drawn if step.id != 257)
    assert table["text after the prompt"].tolist()[-1] == visible_label(text)
    at.text_input(key="sample_prompt").set_value("x" * 70).run()
    assert len(errors(at)) == 1 and "The context must have 1 to 64 ids" in errors(at)[0].replace("\\", "")
    at.text_input(key="sample_prompt").set_value("Paris").run()
    at.radio(key="sample_steps").set_value("doubling").run()
    assert at.dataframe[-1].value["step"].tolist() == [0, 1, 2, 4, 8, 16, 32, 64] and not at.error


def test_settle_names_each_wrong_part():
    good, none = settle(preset("mg-1"), {"steps": 5}, {"dropout": 0.1})
    assert (good.training.steps, good.model.dropout, none) == (5, 0.1, [])
    bad, faults = settle(preset("mg-1"), {"steps": 0}, {"dropout": 1.5})
    assert bad is None and len(faults) == 2


def test_a_model_of_a_replaced_run_folder_is_not_the_old_one(runs):
    for seed in (1, 2):
        shutil.rmtree(runs / "by-hand", ignore_errors=True)
        chosen, faults = settle(preset("mg-1"), {"steps": 1}, {"init_seed": seed})
        corpus = Corpus("two", (Record("a", "red pear"), Record("b", "green pear")))
        run, training = new_run(runs / "by-hand", chosen, corpus, chosen.training)
        list(run.record(training))
        at = open_app(model="run-by-hand", step="0", text="red")
        shown = metrics(at)["Mean loss of the record"]
        assert not faults and not at.error
        model, tokenizer = load_source("run-by-hand", 0)
        assert model.config.init_seed == seed
        from minigpt.inspection.record import inspect_record

        assert shown == f"{inspect_record(model, tokenizer, 'red', 0)['loss']:.6f} nats"
