"""Atomic writes: the old content or the new, nothing else left behind."""

from pathlib import Path

import pytest

from minigpt.storage.atomic import write_atomic


def test_new_and_replaced(tmp_path: Path):
    path = tmp_path / "f"
    for content in (b"old", b"", b"new" * 100_000):
        write_atomic(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["os.replace", "os.fsync"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_failed_write_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error):
    path = tmp_path / "f"
    write_atomic(path, b"old")

    def fail(*_):
        raise error

    monkeypatch.setattr(step, fail)
    with pytest.raises(type(error)):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "none" / "f", b"x")


def test_others_may_read_as_any_new_file(tmp_path: Path):
    (tmp_path / "plain").write_bytes(b"x")
    write_atomic(tmp_path / "whole", b"x")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode
