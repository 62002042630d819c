"""Model folders that readers open: records, sources, changes noticed, and the command line for both directions."""

import io
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from minigpt.__main__ import main
from minigpt.config import ModelConfig
from minigpt.huggingface.export import export_folder, export_zip
from minigpt.huggingface.hub import download_gpt2
from minigpt.huggingface.imports import (
    FORMAT,
    find_import,
    folder_tokenizer,
    forget_import,
    import_folder,
    import_title,
    imports_of,
    imports_store,
    is_import,
    load_folder,
    load_import,
    look_into,
    offered_folders,
)
from minigpt.inspection.sources import BUNDLED_RUN, load_source, source_evaluations, source_run, source_steps
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars
from minigpt.tokenizers.gpt2 import END, GPT2Tokenizer

TEXT = "low slow, 低"
CONFIG = ModelConfig(
    vocab_size=264,
    context_length=20,
    width=8,
    heads=2,
    layers=2,
    ffn_width=12,
    activation="gelu_tanh",
    attention_bias=True,
    head_bias=False,
    tied_head=True,
    dtype="float32",
)


def tokenizer() -> GPT2Tokenizer:
    pieces = [bytes([byte]) for byte in range(256)] + [b"lo", b"low", b""]
    return GPT2Tokenizer(pieces, [(108, 111), (256, 119)], {258: END})


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINIGPT_IMPORTS", str(tmp_path / "imports"))
    return tmp_path / "imports"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small model of ours as a Hugging Face folder."""
    export_folder(tmp_path / "model", MiniGPT(CONFIG), tokenizer())
    return tmp_path / "model"


def touch(path: Path) -> None:
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))


def test_what_a_folder_holds(folder: Path):
    facts = look_into(folder)
    assert facts.config == CONFIG
    assert facts.parameters == sum(parameter.numel() for parameter in MiniGPT(CONFIG).parameters())
    assert facts.weight_bytes == (folder / "model.safetensors").stat().st_size
    assert facts.tokenizer.fingerprint == folder_tokenizer(folder).fingerprint == tokenizer().fingerprint


def test_an_export_comes_back_bit_for_bit(folder: Path):
    ours = MiniGPT(CONFIG).eval()
    model, known = load_folder(folder)
    ids = torch.tensor([[known.bos, *known.encode(TEXT)]])
    assert torch.equal(model(ids), ours(ids))
    assert load_folder(folder, "float64")[0].config.dtype == "float64"


@pytest.mark.parametrize(
    "ours",
    [
        ByteBPE.train([TEXT * 9, "slow 低"], 6),
        Chars([TEXT]),
        ByteBPE([(97, 98), (98, 99), (259, 99), (97, 260)]),  # two merges make abc: no tokenizer.json can hold that
    ],
    ids=["byte BPE", "characters", "byte BPE of our own"],
)
def test_a_run_comes_back_with_its_own_tokenizer(ours: Tokenizer, tmp_path: Path):
    model = MiniGPT(replace(CONFIG, vocab_size=ours.vocab_size)).eval()
    reason = export_folder(tmp_path / "out", model, ours)
    again, known = load_folder(tmp_path / "out")
    ids = torch.tensor([[ours.bos, *ours.encode("slow")]])
    assert (known.kind, known.fingerprint) == (ours.kind, ours.fingerprint)
    assert torch.equal(again(ids), model(ids))
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert (config["bos_token_id"], config["eos_token_id"], config["pad_token_id"]) == (ours.bos, ours.eos, ours.pad)
    if (tmp_path / "out" / "tokenizer.json").exists():
        peer = AutoTokenizer.from_pretrained(tmp_path / "out")
        assert reason == ""
        assert all(peer(text)["input_ids"] == ours.encode(text) for text in (TEXT, "w slo", "低低"))
    else:
        assert reason.startswith("the tokenizer is only in minigpt-tokenizer.json: merges 2 and 3 both make 'abc'")


def test_an_import_is_a_source(folder: Path, store: Path):
    name = import_folder(folder, "a" * 32)
    assert is_import(name) and name.startswith("gpt2-")
    assert (source_run(name), source_steps(name), source_evaluations(name)) == (None, (0,), [])
    model, known = load_source(name, 0)
    assert not model.training
    assert known.decode(known.encode(TEXT)) == TEXT
    with pytest.raises(ValueError, match="step must be one of 0, got 1"):
        load_source(name, 1)
    assert import_title(name) == f"model · {name[-4:]}"
    assert [path.suffix for path in store.iterdir()] == [".json"]  # a record only, no copy of the weights
    assert next(store.iterdir()).stat().st_size < 2000


def test_readers_of_one_folder_share_its_model(folder: Path, store: Path):
    first, second = import_folder(folder, "a" * 32), import_folder(folder, "b" * 32)
    assert first != second
    held = load_import(first)
    assert load_import(second)[0] is held[0] and load_import(second)[1] is held[1]


def test_imports_belong_to_their_browser(folder: Path, store: Path):
    name = import_folder(folder, "a" * 32)
    assert import_folder(folder, "a" * 32) == name
    assert (imports_of("a" * 32), imports_of("b" * 32)) == ([name], [])
    with pytest.raises(ValueError, match="made in another browser; only that browser can remove it"):
        forget_import(name, "b" * 32)
    assert "a" * 32 not in next(store.iterdir()).read_text()
    forget_import(name, "a" * 32)
    assert imports_of("a" * 32) == [] and folder.is_dir()
    with pytest.raises(ValueError, match="there is no import .* here: it was removed, or the link is wrong"):
        load_source(name, 0)


def test_the_newest_import_is_listed_first(folder: Path, store: Path):
    first = import_folder(folder, "me")
    touch(folder / "config.json")
    second = import_folder(folder, "me")
    assert imports_of("me") == [second, first]


def test_a_changed_folder_is_noticed(folder: Path, store: Path):
    name = import_folder(folder, "me")
    touch(folder / "model.safetensors")
    for call in (find_import, load_import, source_steps, source_run):
        with pytest.raises(ValueError, match=r"has changed since .* \(model.safetensors\); open it again"):
            call(name)
    again = import_folder(folder, "me")
    assert again != name and source_steps(again) == (0,)
    (folder / "merges.txt").unlink()
    with pytest.raises(ValueError, match=r"has changed .* \(merges.txt\)"):
        find_import(again)
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(ValueError, match="the folder .*model of this model is gone"):
        find_import(again)
    assert import_title(again).startswith("model · ")


@pytest.mark.parametrize("name", ["gpt2-small", "gpt2-", "gpt2-../../etc", "run-aaaaaa-0000000000000000", "gpt2-aa"])
def test_names_that_are_no_imports(name: str, store: Path):
    assert not is_import(name)
    with pytest.raises(ValueError, match="there is no import"):
        find_import(name)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "F"}', '{"format": "F", "folder": 3, "files": []}'])
def test_a_damaged_record_spoils_nothing_else(folder: Path, store: Path, content: str):
    name = import_folder(folder, "me")
    touch(folder / "config.json")
    other = import_folder(folder, "me")
    (store / f"{name.removeprefix('gpt2-')}.json").write_text(content.replace("F", FORMAT))
    assert imports_of("me") == [other]
    with pytest.raises(ValueError, match="is damaged|cannot be used|must hold one JSON object"):
        load_source(name, 0)


def test_folders_that_cannot_be_opened(folder: Path, store: Path, tmp_path: Path):
    cases = {
        tmp_path / "none": "there is no folder",
        tmp_path: "is not a folder of a GPT-2 model: it has no config.json",
        "": "there is no folder|it has no config.json",
        "a\0b": "there is no folder",
        "x" * 5000: "cannot be read: File name too long",
        "<b>x</b>": "there is no folder .*<b>x</b>",
    }
    for path, sentence in cases.items():
        with pytest.raises(ValueError, match=sentence):
            import_folder(path, "me")
    for file in ("tokenizer.json", "vocab.json"):
        (folder / file).unlink()
    with pytest.raises(ValueError, match="has no tokenizer"):
        import_folder(folder, "me")
    assert imports_of("me") == []


def test_a_tokenizer_with_more_ids_than_the_model(tmp_path: Path, store: Path):
    export_folder(tmp_path / "small", MiniGPT(replace(CONFIG, vocab_size=258)), tokenizer())
    with pytest.raises(ValueError, match="the tokenizer in .* has 259 ids, the model only 258"):
        import_folder(tmp_path / "small", "me")


def test_folders_in_the_store_are_offered(folder: Path, store: Path):
    assert offered_folders() == []
    store.mkdir()
    (store / "gpt2").symlink_to(folder)
    (store / "empty").mkdir()
    assert offered_folders() == [store / "gpt2"]
    assert imports_of("me") == []
    assert import_title(import_folder(store / "gpt2", "me")).startswith("gpt2 · ")


def test_the_store_cannot_be_written(folder: Path, store: Path):
    store.write_text("a file")
    with pytest.raises(ValueError, match="the import cannot be recorded in .*imports: "):
        import_folder(folder, "me")


def test_exports_are_whole_or_absent(tmp_path: Path):
    with pytest.raises(ValueError, match="its LM head has a bias"):
        export_folder(tmp_path / "out", MiniGPT(replace(CONFIG, head_bias=True)), tokenizer())
    assert not any(tmp_path.iterdir())
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    with pytest.raises(ValueError, match="full exists and is not empty; choose another folder"):
        export_folder(tmp_path / "full", MiniGPT(CONFIG), tokenizer())
    with pytest.raises(ValueError, match="note.txt exists and is not empty"):
        export_folder(tmp_path / "full" / "note.txt", MiniGPT(CONFIG), tokenizer())
    with pytest.raises(ValueError, match="cannot be written: Not a directory"):
        export_folder(tmp_path / "full" / "note.txt" / "x", MiniGPT(CONFIG), tokenizer())
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "note.txt"]
    (tmp_path / "empty").mkdir()
    export_folder(tmp_path / "empty", MiniGPT(CONFIG), tokenizer())
    assert look_into(tmp_path / "empty").config == CONFIG


def test_an_export_as_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    content = export_zip("my-gpt", MiniGPT(CONFIG), tokenizer())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"my-gpt"}
        archive.extractall(tmp_path)
    assert look_into(tmp_path / "my-gpt").config == CONFIG
    monkeypatch.setenv("MINIGPT_EXPORT_BYTES", "1000")
    with pytest.raises(ValueError, match="this model have 13,408 bytes, a download may have at most 1,000"):
        export_zip("my-gpt", MiniGPT(CONFIG), tokenizer())


def test_the_command_line_reads_a_folder(folder: Path, store: Path, capsys: pytest.CaptureFixture[str]):
    def answer(*arguments: str) -> dict:
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    tokens = answer("tokenize", "--model", folder, "--text", TEXT)
    assert tokens["ids"] == tokenizer().encode(TEXT)
    assert tokens["merges"][-1]["ids"] == tokens["ids"]
    assert answer("tokenize", "--model", folder, "--text", TEXT * 400)["merges"] is None
    inspected = answer("inspect", "--model", folder, "--text", TEXT, "--position", "1")
    assert inspected["ids"] == [258, *tokens["ids"]]
    wide = answer("inspect", "--model", folder, "--text", TEXT, "--position", "1", "--dtype", "float64")
    assert inspected["loss"] != wide["loss"] and inspected["loss"] == pytest.approx(wide["loss"], abs=1e-5)
    drawn = answer("generate", "--model", folder, "--prompt", "low", "--max-new", "5", "--temperature", "0")
    assert len(drawn["ids"]) == 5
    noted = answer("import", "--model", folder)
    assert source_steps(noted["model"]) == (0,)
    assert (noted["parameters"], noted["tokenizer"]["kind"]) == (look_into(folder).parameters, "gpt2")
    assert main(["import", "--model", str(folder)]) == 0
    assert f"in the app: /?model={noted['model']}" in capsys.readouterr().out
    assert main(["tokenize", "--model", str(folder), "--text", TEXT * 400]) == 0
    assert "merges" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("inspect", "--model", "/no/where", "--text", "a"), "there is no folder /no/where"),
        (("inspect", "--model", "x", "--step", "3", "--text", "a"), "leave out --run and --step"),
        (("inspect", "--dtype", "float64", "--text", "a"), "--dtype needs --model"),
        (("export", "--run", "/no/where", "--out", "x"), "is not a run folder"),
        (("export", "--run", str(BUNDLED_RUN), "--out", "x"), "its LM head has a bias, GPT-2's has none"),
        (("export", "--run", str(BUNDLED_RUN), "--step", "3", "--out", "x"), "has no checkpoint of step 3"),
        (("import", "--model", "/no/where"), "there is no folder /no/where"),
    ],
)
def test_command_line_faults_are_one_sentence(arguments, sentence: str, capsys: pytest.CaptureFixture[str]):
    assert main([*arguments]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err and captured.err.count("\n") == 1 and captured.out == ""


def test_without_a_network_a_download_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    with pytest.raises(ValueError, match="could not be downloaded .*download config.json, model.safetensors"):
        download_gpt2("minigpt-tests/no-such-model")
    with pytest.raises(ValueError, match="'../x' is not the name of a repository"):
        download_gpt2("../x")
    monkeypatch.setattr("minigpt.huggingface.hub.can_download", lambda: False)
    with pytest.raises(ValueError, match="huggingface_hub is not installed; on a computer"):
        download_gpt2()


def test_imports_lie_beside_the_program_by_default(monkeypatch: pytest.MonkeyPatch, root: Path):
    monkeypatch.delenv("MINIGPT_IMPORTS", raising=False)
    assert imports_store() == root / "imports"
