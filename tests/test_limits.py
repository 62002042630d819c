"""Limits come from the environment, or the default; an unusable value is an error, not ignored."""

import pytest

from minigpt.limits import limit

NAME = "MINIGPT_RECORD_CHARACTERS"


def test_default_and_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(NAME, raising=False)
    assert limit(NAME) == 200_000
    monkeypatch.setenv(NAME, " 12 ")
    assert limit(NAME) == 12


@pytest.mark.parametrize("text", ["", "many", "-1", "1.5", "1e3", "0"])
def test_unusable_values(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv(NAME, text)
    with pytest.raises(ValueError, match=f"{NAME} must be a whole number"):
        limit(NAME)
