"""The corpus page without a browser: from a file to a run that samples, with every choice on the way."""

import json
import time

import pytest
from streamlit.testing.v1 import AppTest

from minigpt.corpus.library import bundled_corpus, bundled_keys, corpora_of, load_corpus
from minigpt.training.runs.run import Run
from minigpt.ui.shared import corpora, tokenizing, trainer
from tests.pages.app import APP, open_app, unfold

LINES = "".join(f"The {colour} key opens box {i}.\n" for i in range(20) for colour in ("red", "blue"))
PROSE = "It was late, and nobody had thought of the lamp that stood by the window until the wind put it out. " * 40


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGPT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("MINIGPT_CORPORA", str(tmp_path / "corpora"))
    return tmp_path


@pytest.fixture(scope="module", autouse=True)
def nothing_left():
    yield
    trainer.trainer().close()
    trainer.trainer.clear()
    tokenizing.learning().close()
    tokenizing.learning.clear()


def upload(at, name: str, content: bytes | str):
    content = content.encode() if isinstance(content, str) else content
    at.file_uploader[0].set_value((name, content, "application/octet-stream")).run()
    assert not at.exception, [exception.value for exception in at.exception]
    return at


def said(at) -> str:
    return "\n".join(element.value for element in (*at.markdown, *at.caption, *at.warning)).replace("\\", "")


def errors(at) -> list[str]:
    return [error.value.replace("\\", "") for error in at.error]


def metrics(at) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def tab(at, name: str):
    """The open tab; AppTest draws the first one, others by their state."""
    at.session_state["corpus_panel"] = name
    return at.run()


def come_back(at):
    """The same browser in a new session, as after a refresh."""
    again = AppTest.from_file(str(APP), default_timeout=60)
    again.session_state["minigpt_browser"] = at.session_state["minigpt_browser"]
    again.query_params["corpus"] = choice_of(at)
    again.run()
    again.switch_page("pages/corpus.py").run()
    assert not again.exception
    return again


def press(at, key: str, page: str):
    """Press a button that leads to another page, and stay there: AppTest alone would go back at the next run."""
    at.button(key=key).click().run()
    assert not at.exception, [exception.value for exception in at.exception]
    return at.switch_page(f"pages/{page}.py").run()


def texts(at) -> list[str]:
    return at.dataframe[0].value["text"].tolist()


def choice_of(at) -> str:
    return at.session_state["workspace"].corpus


def test_the_first_corpus_is_that_of_the_shipped_run():
    at = open_app("corpus")
    assert metrics(at)["Training + validation"] == "24 + 8" and metrics(at)["Vocabulary"] == "291"
    assert texts(at) == [record.text for record in bundled_corpus().train]
    assert "preset mg-1" in said(at) and "byte-level BPE with 32 merges" in said(at)
    at.session_state["train_more"] = True
    press(at, "corpus_train", "training")
    assert at.title[0].value == "How it learns"
    assert (at.selectbox(key="train_preset").value, at.number_input(key="train_mg-1_merges").value) == ("mg-1", 32)
    assert at.number_input(key="train_mg-1_context_length").value == 64


@pytest.mark.parametrize("key", bundled_keys())
def test_every_shipped_corpus_is_shown(key):
    at = open_app("corpus", corpus=key)
    assert not at.error and metrics(at)["Tokens"] != "–"
    assert at.query_params.get("corpus", "mini-gpt") in (key, [key], "mini-gpt")
    assert texts(at)


def test_from_lines_to_a_run_of_ones_own(kept):
    at = upload(open_app("corpus"), "keys.txt", LINES + "\n \n")
    assert "Each line is a record: 40 records" in said(at) and "2 empty records skipped: line 41, line 42" in said(at)
    assert metrics(at)["Training + validation"] == "36 + 4"
    at.session_state["train_more"] = True
    press(at, "corpus_train", "training")
    assert at.title[0].value == "How it learns" and "Corpus keys: 36 training and 4 validation records" in said(at)
    at.number_input(key="train_mg-1_steps").set_value(20).run()
    at.button(key="train_start").click().run()
    id = at.session_state["workspace"].run
    wait_until_finished(id)
    run = Run(kept / "runs" / id)
    assert run.corpus().hash == load_corpus(kept / "corpora" / choice_of(at) / "corpus.json").hash
    at.run()
    press(at, "train_speak", "sampling")
    assert not at.exception and not at.error
    space = at.session_state["workspace"]
    assert space.model == f"run-{id}" and space.text == run.corpus().train[0].text
    assert at.query_params["prompt"] == "The red key "


def test_chinese_lines_get_characters_and_everything_after_it_can_be_read(kept):
    lines = "".join(f"{a}山{b}水月，{b}花{a}雨声。\n" for a in "春夏秋冬" for b in "东南西北")
    at = upload(open_app("corpus"), "诗.txt", lines)
    assert metrics(at)["Bytes a token"] == "3.00"
    at.session_state["train_more"] = True
    press(at, "corpus_train", "training")
    assert at.selectbox(key="train_preset").value == "poems"
    for name, value in {"steps": 21, "batch_size": 2}.items():
        at.number_input(key=f"train_poems_{name}").set_value(value)
    at.button(key="train_start").click().run()
    id = at.session_state["workspace"].run
    assert id, errors(at)
    wait_until_finished(id)
    at.run()
    press(at, "train_look", "overview")
    assert not at.error and at.session_state["workspace"].text in lines
    at.switch_page("pages/sampling.py").run()
    assert not at.error and len(at.query_params["prompt"]) == 2


def test_continuous_text_is_said_to_be_one_and_can_be_lines():
    at = upload(open_app("corpus"), "story.txt", f"{PROSE}\n\n{PROSE}\n")
    assert "Read as one continuous text" in said(at) and "its lines are long" in said(at)
    assert metrics(at)["Training + validation"] == "90% + 10%"
    assert "chapter-7" in said(at) and "windows of 128 positions" in said(at)
    at.radio(key=f"corpus_continuous_{choice_of(at)}").set_value(False).run()
    assert "Each line is a record: 2 records" in said(at)


def test_another_encoding_is_chosen_with_its_preview():
    at = upload(open_app("corpus"), "poem.txt", "床前明月光\n疑是地上霜\n".encode("gb18030"))
    assert len(errors(at)) == 1 and "poem.txt is not UTF-8: 0xB4 at byte 0" in errors(at)[0]
    previews = at.dataframe[0].value
    row = previews[previews["encoding"] == "gb18030"]["the file begins"].item()
    assert row == "床前明月光 / 疑是地上霜"
    at.pills[0].set_value("gb18030").run()
    assert not at.error and texts(at) == ["床前明月光", "疑是地上霜"]
    assert "gb18030" in said(at)


def test_western_european_bytes_offer_the_likely_encoding_first():
    at = upload(open_app("corpus"), "cafe.txt", "un café\nune île\n".encode("cp1252"))
    assert "looks like cp1252 or latin-1" in errors(at)[0] and not metrics(at), "nothing is chosen for the reader"
    assert at.pills[0].options[0] == "cp1252 (likely)" and "cp1251" in at.pills[0].options
    assert at.dataframe[0].value["looks like it"].tolist()[:2] == ["likely", ""]
    at.pills[0].set_value("cp1252").run()
    assert not at.error and texts(at) == ["un café", "une île"]


@pytest.mark.parametrize(("content", "kind"), [(b"", "it is empty (0 bytes)"), (b" \r\n", "white space")])
def test_an_empty_file_is_refused_and_takes_no_place(content, kind):
    at = upload(open_app("corpus"), "none.txt", content)
    assert "The file was not taken: none.txt has no usable records" in errors(at)[0] and kind in errors(at)[0]
    assert corpora_of(at.session_state["minigpt_browser"]) == [] and "It looks like" not in said(at)


def test_one_line_read_as_one_text_is_not_counted_as_records():
    at = upload(open_app("corpus"), "line.txt", PROSE.strip())
    assert "Read as one continuous text" in said(at)
    assert metrics(at)["Training + validation"].endswith("%")


def test_the_column_is_chosen_when_there_is_no_text():
    at = upload(open_app("corpus"), "a.csv", "id,content\n1,the red key\n2,the blue key\n3,NA\n")
    assert not at.error and not metrics(at), "a question, and nothing is chosen for the reader"
    asked = at.info[0].value.replace("\\", "")
    assert asked == "Which column holds the texts? None is called 'text'. Likely 'content', which holds the longest."
    at.pills[0].set_value("content").run()
    assert not at.error and texts(at) == ["the red key", "the blue key", "NA"]


def test_format_and_field_can_be_said():
    at = upload(open_app("corpus"), "notes.md", "# one\n\ntwo\n")
    assert "the name of notes.md does not tell its format" in errors(at)[0]
    format = f"corpus_format_choice_{choice_of(at)}"
    assert at.selectbox(key=format).options[0] == "by the file's name"
    at.selectbox(key=format).set_value("txt").run()
    assert not at.error and texts(at) == ["# one", "two"]
    upload(at, "a.csv", "id;text\n1;red\n2;blue\n")
    assert "columns: id;text" in errors(at)[0]
    at.selectbox(key=f"corpus_delimiter_choice_{choice_of(at)}").set_value("semicolon").run()
    assert not at.error and texts(at) == ["red", "blue"]
    upload(at, "a.jsonl", '{"text": "t", "other": "o"}\n')
    at.text_input(key=f"corpus_field_{choice_of(at)}").set_value("other").run()
    assert texts(at) == ["o"]


def test_faults_are_listed_and_left_out_only_when_one_agrees():
    at = upload(open_app("corpus"), "a.jsonl", '{"text": "one"}\n{"text": 2}\nnot json\n"two"\n')
    assert "Not read yet: a.jsonl, line 2" in errors(at)[0] and not metrics(at)
    table = at.dataframe[0].value
    assert table["place"].tolist() == ["line 2", "line 3"] and "must be a text" in table["reason"][0]
    at.button(key="corpus_without").click().run()
    assert not at.error and metrics(at)["Training + validation"] == "2 + 0"
    at.session_state["train_more"] = True
    press(at, "corpus_train", "training")
    assert not at.button(key="train_start").disabled


def test_a_corpus_that_is_not_read_to_its_end_is_named_on_the_training_page():
    at = upload(open_app("corpus"), "a.jsonl", '{"text": "one"}\n{"text": 2}\n')
    at.switch_page("pages/training.py").run()
    assert "a.jsonl" in errors(at)[0] and "is not ready" in errors(at)[0]
    assert at.button(key="train_start").disabled
    at.selectbox(key="train_corpus").set_value(corpora.FIRST).run()
    assert not at.error and not at.button(key="train_start").disabled


def test_a_corpus_without_validation_trains_and_says_so(kept):
    at = upload(open_app("corpus"), "one.txt", "hi")
    at.segmented_control(key=f"corpus_shown_{choice_of(at)}").set_value("validation").run()
    assert "There is no validation record" in at.info[0].value
    at.session_state["train_more"] = True
    press(at, "corpus_train", "training")
    at.number_input(key="train_mg-1_steps").set_value(5).run()
    at.button(key="train_start").click().run()
    wait_until_finished(at.session_state["workspace"].run)
    at.run()
    table = next(markdown.value for markdown in at.markdown if "| Best validation loss |" in markdown.value)
    assert not at.error and "| – |" in table
    press(at, "train_look", "overview")
    assert not at.error


def test_duplicates_are_grouped_and_counted():
    at = upload(open_app("corpus"), "ten.txt", "".join(f"line {i}\n" for i in range(10)) * 10)
    tab(at, "Split")
    assert "Different texts: 10; duplicates: 90, each grouped" in said(at)
    key = choice_of(at)
    assert metrics(at)["Training + validation"] == "90 + 10"
    at.radio(key=f"corpus_split_duplicates_{key}").set_value("apart").run()
    assert "validation records are also in the training split" in said(at)
    at.radio(key=f"corpus_split_duplicates_{key}").set_value("drop").run()
    assert metrics(at)["Training + validation"] == "9 + 1"
    before = texts(at)
    at.number_input(key=f"corpus_split_seed_{key}").set_value(5).run()
    assert texts(at) != before
    at.slider(key=f"corpus_split_share_{key}").set_value(0.5).run()
    assert metrics(at)["Training + validation"] == "5 + 5"


def test_long_records_are_listed_with_two_ways_on():
    at = upload(open_app("corpus"), "a.txt", LINES)
    tab(at, "Batches")
    key = choice_of(at)
    at.number_input(key=f"corpus_context_{key}").set_value(3).run()
    assert "records do not fit into 3 positions. Records are never cut" in said(at)
    assert at.dataframe[-1].value["positions"].is_monotonic_decreasing
    at.button(key="corpus_longer").click().run()
    assert "Every record fits" in said(at)
    at.number_input(key=f"corpus_context_{key}").set_value(3).run()
    at.button(key="corpus_windows").click().run()
    at.session_state["train_more"] = True
    press(at, "corpus_train", "training")
    assert at.selectbox(key="train_mg-1_mode").value == "windows"
    assert at.number_input(key="train_mg-1_context_length").value == 3
    at.selectbox(key="train_mg-1_mode").set_value("records").run()
    assert "records are longer than the context of 3 positions" in errors(at)[0]
    assert at.button(key="train_start").disabled


def test_unusable_files_get_one_sentence_and_the_page_stays():
    at = open_app("corpus")
    for name, content in (("a.txt", b""), ("b.txt", b" \n\n"), ("c.json", b"{}"), ("d.csv", b"a,a\n1,2\n")):
        upload(at, name, content)
        assert len(errors(at)) == 1 and name in errors(at)[0], name
    upload(at, "one.txt", "hi")
    assert not at.error and metrics(at)["Training + validation"] == "1 + 0"


def test_a_file_beyond_the_limit_is_refused_before_it_is_kept(kept, monkeypatch):
    monkeypatch.setenv("MINIGPT_UPLOAD_BYTES", "100")
    at = upload(open_app("corpus"), "a.txt", "x" * 101)
    assert errors(at) == ["The file was not taken: a.txt has 101 bytes, at most 100 are read (MINIGPT_UPLOAD_BYTES)."]
    assert not (kept / "corpora").exists() and metrics(at)["Training + validation"] == "24 + 8"


def test_pasted_text_is_a_corpus_too():
    at = open_app("corpus")
    at.text_area(key="corpus_pasted").set_value("one line\nanother line\n")
    next(button for button in at.button if button.label == "Use this text").click().run()
    assert not at.exception and texts(at) == ["one line", "another line"]


def test_a_replaced_file_is_a_new_corpus_and_a_deleted_one_is_gone():
    at = upload(open_app("corpus"), "a.txt", LINES)
    first = choice_of(at)
    upload(at, "a.txt", LINES.replace("key", "lid"))
    assert choice_of(at) != first and "lid" in texts(at)[0]
    browser = at.session_state["minigpt_browser"]
    assert len(corpora_of(browser)) == 2
    upload(at, "a.txt", LINES)
    assert choice_of(at) == first and len(corpora_of(browser)) == 2
    at.button(key="corpus_delete_now").click().run()
    assert choice_of(at) is None and len(corpora_of(browser)) == 1 and not at.error


def test_another_browser_sees_nothing_also_with_the_link():
    ann = upload(open_app("corpus"), "secret.txt", LINES)
    ben = open_app("corpus", corpus=choice_of(ann))
    assert "this browser has no corpus" in said(ben)
    assert not [title for title in ben.selectbox(key="corpus_choice").options if "secret" in title]
    assert metrics(ben)["Training + validation"] == "24 + 8"


def test_hostile_names_and_texts_are_shown_to_the_letter():
    text = "<img src=x onerror=alert(1)> $x$ **b** :red[c]\ttab\u202e"
    at = upload(open_app("corpus"), "<b>$x$</b> **n**.txt", f"{text}\nother\n")
    assert texts(at) == ["<img src=x onerror=alert(1)> $x$ **b** :red[c]‹TAB›tab‹U+202E›", "other"]
    assert any(title.startswith("<b>$x$</b> **n**.txt") for title in at.selectbox(key="corpus_choice").options)
    assert not any("**n**" in element.value for element in (*at.markdown, *at.caption))


def test_a_large_corpus_is_learned_by_a_process_and_start_waits_for_it(kept, monkeypatch):
    monkeypatch.setattr(tokenizing, "SMALL", 100)
    at = upload(open_app("corpus"), "keys.txt", LINES)
    assert metrics(at)["Tokens"] == "–" and "a separate process learns its tokenizer" in said(at)
    at.button(key="corpus_learn").click().run()
    assert not at.error
    wait_for_tokenizer(at)
    assert at.button(key="tokenizer_cancel")
    at.run()
    assert metrics(at)["Vocabulary"] == "291" and "Learned and kept, by number of merges: 32" in said(at)
    at.session_state["train_more"] = True
    press(at, "corpus_train", "training")
    at.number_input(key="train_mg-1_merges").set_value(20)
    at.number_input(key="train_mg-1_steps").set_value(20).run()
    assert "Its tokenizer is learned first" in said(at)
    at.button(key="train_start").click().run()
    while at.session_state["workspace"].run is None:
        assert not at.error and not at.exception
        time.sleep(0.2)
        at.run()
    wait_until_finished(at.session_state["workspace"].run)
    assert len(Run(kept / "runs" / at.session_state["workspace"].run).tokenizer().merges) == 20


def test_a_job_is_found_again_cancelled_and_ends_with_its_corpus(kept, monkeypatch):
    monkeypatch.setattr(tokenizing, "SMALL", 100)
    numbers = range(1, 40_000)
    long = "".join(f"{hash(str(number)) % 10**12} {number**5}\n" for number in numbers)
    at = upload(open_app("corpus"), "long.txt", long)
    key = choice_of(at)
    at.number_input(key=f"corpus_merges_{key}").set_value(8000).run()
    at.button(key="corpus_learn").click().run()
    at = come_back(at)
    assert at.number_input(key=f"corpus_merges_{key}").value == 8000
    at.button(key="tokenizer_cancel").click().run()
    assert not at.error and at.button(key="corpus_learn")
    at.button(key="corpus_learn").click().run()
    folder = next((kept / "corpora" / key / "tokenizers").glob("*/*"))
    assert tokenizing.learning().state(folder).status.active
    at.button(key="corpus_delete_now").click().run()
    assert not at.error and not (kept / "corpora" / key).exists()
    assert tokenizing.learning().state(folder).status == "none"


def test_the_prepared_corpus_can_be_brought_again(kept):
    at = upload(open_app("corpus"), "keys.txt", LINES)
    content = (kept / "corpora" / choice_of(at) / "corpus.json").read_bytes()
    upload(at, "again.json", content)
    assert not at.error and metrics(at)["Training + validation"] == "36 + 4"
    again = json.loads((kept / "corpora" / choice_of(at) / "corpus.json").read_bytes())
    assert again["train"] == json.loads(content)["train"]


def test_choosing_a_corpus_on_the_training_page_fits_the_settings():
    at = unfold(open_app("training", corpus="chinese-lines"))
    assert at.selectbox(key="train_preset").value == "poems" and not at.error
    at.selectbox(key="train_corpus").set_value("english-text").run()
    assert at.selectbox(key="train_preset").value == "chapter-7"
    assert at.selectbox(key="train_chapter-7_mode").value == "windows"
    at.selectbox(key="train_corpus").set_value(corpora.FIRST).run()
    assert at.selectbox(key="train_preset").value == "mg-1" and "13,875 parameters" in said(at)


def wait_until_finished(id: str) -> None:
    while (now := trainer.state(id)).status != "finished":
        assert now.status.active, now
        time.sleep(0.05)


def wait_for_tokenizer(at) -> None:
    folder = next(iter((corpora.CORPORA.root / choice_of(at) / "tokenizers").glob("*/*")))
    while (state := tokenizing.learning().state(folder)).status != "finished":
        assert state.status.active, state
        time.sleep(0.05)
