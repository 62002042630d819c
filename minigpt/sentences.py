"""Sentences for people, with template and values kept apart, so that a catalogue can say them in another language.

The library writes its sentences in English with `say`, `say_count` and `Refusal`; the pages show them through
`minigpt.ui.base.text`, which looks the template up in the reader's language. `pybabel extract` finds every
template by these names (see CONTRIBUTING).
"""

from collections.abc import Callable
from typing import Any


class Sentence(str):
    """An English sentence that remembers how it was made: `template.format(**values)`.

    `plural` is the template for every count but one, or "" for a sentence without a count. Values may be
    sentences and refusals themselves.

    >>> say("{count} tokens", count=7).template
    '{count} tokens'
    """

    template: str
    plural: str
    values: dict[str, Any]

    def __new__(cls, template: str, values: dict[str, Any], plural: str = "") -> "Sentence":
        values = {name: value.sentence if isinstance(value, Refusal) else value for name, value in values.items()}
        chosen = plural if plural and values["count"] != 1 else template
        sentence = super().__new__(cls, chosen.format(**values))
        sentence.template, sentence.plural, sentence.values = template, plural, values
        return sentence

    def __getnewargs__(self) -> tuple[str, dict[str, Any], str]:  # type: ignore[override]
        return self.template, self.values, self.plural

    def translated(self, singular: Callable[[str], str], by_count: Callable[[str, str, int], str]) -> str:
        """The sentence in another language: `singular` and `by_count` are a catalogue's gettext and ngettext."""
        if not self.template:
            return ""  # a catalogue has its own header there
        values = {
            name: value.translated(singular, by_count) if isinstance(value, Sentence) else value
            for name, value in self.values.items()
        }
        if self.plural:
            return by_count(self.template, self.plural, self.values["count"]).format(**values)
        return singular(self.template).format(**values)

    def to_json(self) -> dict[str, Any]:
        """Template and values for a JSON file, which `sentence_from` reads. Values of other kinds become text."""
        plain = (str, int, float, type(None))
        values = {
            name: value.to_json() if isinstance(value, Sentence) else value if isinstance(value, plain) else str(value)
            for name, value in self.values.items()
        }
        return {"template": self.template, "plural": self.plural, "values": values}


def sentence_from(text: str, parts: Any) -> str:
    """The sentence `text` with the `parts` that `to_json` took apart; plain text where they do not make it again."""
    try:
        sentence = _sentence(parts)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return text
    return sentence if sentence == text else text


def _sentence(parts: dict[str, Any]) -> Sentence:
    values = {name: _sentence(value) if isinstance(value, dict) else value for name, value in parts["values"].items()}
    return Sentence(parts["template"], values, parts["plural"])


def sentence_of(error: BaseException) -> str:
    """What an error says; a Sentence if it is a Refusal. An error without a message says its type."""
    return error.sentence if isinstance(error, Refusal) else str(error) or type(error).__name__


def reason_of(error: Exception) -> str:
    """What an error says, as a value for another sentence: a `Sentence` where it has one.

    >>> reason_of(Refusal("width must be at least 1, got {width}", width=0)).template
    'width must be at least 1, got {width}'
    """
    return error.sentence if isinstance(error, Refusal) else str(error)


def say(template: str, /, **values: Any) -> Sentence:
    """The sentence with its {values} put in.

    >>> say("{count} tokens by {merges} merges", count=7, merges=4)
    '7 tokens by 4 merges'
    """
    return Sentence(template, values)


def say_count(one: str, many: str, /, count: int, **values: Any) -> Sentence:
    """One of two templates, by `count`.

    >>> say_count("{count} record", "{count} records", count=1)
    '1 record'
    """
    return Sentence(one, {"count": count, **values}, many)


class Refusal(ValueError):
    """A user's mistake, in one sentence: what, got, allowed. `sentence` can be translated.

    >>> Refusal("width must be at least 1, got {width}", width=0).sentence.values
    {'width': 0}
    """

    def __init__(self, template: str, /, **values: Any):
        self.sentence = template if isinstance(template, Sentence) and not values else Sentence(template, values)
        super().__init__(self.sentence)
