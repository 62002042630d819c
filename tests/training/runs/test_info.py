"""run.json keeps the reason of a failure as an English sentence, and its template and values beside it."""

import json
import shutil
from pathlib import Path

from minigpt.sentences import Refusal, Sentence, say, sentence_from, sentence_of
from minigpt.training.runs.info import RunStatus, read_info, write_status

FOLDER = Path(__file__).parents[2] / "data" / "run-interrupted"


def failed(tmp_path: Path, reason: str) -> tuple[Path, dict]:
    folder = tmp_path / "run"
    shutil.copytree(FOLDER, folder)
    write_status(folder, RunStatus.FAILED, reason)
    return folder, json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_a_reason_keeps_its_parts(tmp_path):
    inner = Refusal("loss {loss:.2f} of {path}", loss=0.5, path=Path("a/b"))
    folder, content = failed(tmp_path, sentence_of(Refusal("step {step:,}: {error}", step=1200, error=inner)))
    assert content["reason"] == "step 1,200: loss 0.50 of a/b"
    reason = read_info(folder).reason
    assert isinstance(reason, Sentence) and reason.template == "step {step:,}: {error}"
    assert reason.values["step"] == 1200
    assert reason.values["error"].template == "loss {loss:.2f} of {path}"


def test_a_reason_without_parts_is_text_as_in_earlier_folders(tmp_path):
    folder, content = failed(tmp_path, "no space {left}")
    assert "reason_parts" not in content
    assert type(read_info(folder).reason) is str and read_info(folder).reason == "no space {left}"


def test_parts_that_make_another_sentence_are_not_used():
    parts = say("{count} steps", count=3).to_json()
    assert isinstance(sentence_from("3 steps", parts), Sentence)
    for text, damaged in (("4 steps", parts), ("3 steps", {}), ("3 steps", 5), ("3 steps", parts | {"values": {}})):
        assert type(sentence_from(text, damaged)) is str
