"""Sentences keep template and values apart; a catalogue says them in another language."""

import pickle

import pytest

from minigpt.sentences import Refusal, say, say_count
from minigpt.ui.base import text

GERMAN = {
    "{count} record": ("{count} Satz", "{count} Sätze"),
    "no such run": "kein solcher Lauf",
    "Not read: {why}": "Nicht gelesen: {why}",
    "": "Content-Type: text/plain",
}


class Catalogue:
    def gettext(self, template: str) -> str:
        return GERMAN.get(template, template)

    def ngettext(self, one: str, many: str, count: int) -> str:
        return GERMAN[one][count != 1]


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_catalogue", Catalogue)


def test_without_a_catalogue_it_is_english():
    assert say("{count} tokens by {merges} merges", count=7, merges=4) == "7 tokens by 4 merges"
    assert [say_count("{count} record", "{count} records", count=count) for count in (0, 1, 2)] == [
        "0 records",
        "1 record",
        "2 records",
    ]
    assert str(Refusal("width must be at least 1, got {width}", width=0)) == "width must be at least 1, got 0"


def test_a_catalogue_says_sentences_and_errors(german):
    assert text.t("no such run") == "kein solcher Lauf"
    assert text.tn("{count} record", "{count} records", count=1) == "1 Satz"
    assert text.translate(say_count("{count} record", "{count} records", count=2)) == "2 Sätze"
    assert text.translate(Refusal("Not read: {why}", why=say("no such run"))) == "Nicht gelesen: kein solcher Lauf"


def test_what_is_not_a_sentence_stays(german):
    assert text.translate("no such run") == "no such run"
    assert text.translate(ValueError("no such run")) == "no such run"
    assert text.t("") == ""


def test_a_sentence_survives_a_cache(german):
    kept = pickle.loads(pickle.dumps(say("Not read: {why}", why=say("no such run"))))  # noqa: S301
    assert text.translate(kept) == "Nicht gelesen: kein solcher Lauf"
