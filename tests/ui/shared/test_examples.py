"""Records that a model can read: whole, or a beginning, never one with a character it does not know."""

import pytest

from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars
from minigpt.ui.shared.examples import beginning, fitting, training_records

BYTES = ByteBPE()


def test_short_texts_stay_whole_and_long_ones_end_at_a_border():
    assert beginning("red cat", BYTES, 8) == "red cat"
    assert beginning("red cat", BYTES, 7) == "red"
    assert beginning("one line\nanother line", BYTES, 15) == "one line"
    assert beginning("a very-long-word-without-any-space", BYTES, 12) == "a very-long"
    assert beginning("法国", BYTES, 4) == "法"
    assert beginning("法国", BYTES, 3) == ""


def test_a_long_text_is_not_read_to_its_end():
    assert beginning("word " * 1_000_000, BYTES, 64) == " ".join(["word"] * 12)


def test_texts_with_unknown_characters_and_equal_ones_are_left_out():
    assert fitting(["ab", "xy", "ab", "ba", "bb"], Chars("ab"), 8, most=2) == ["ab", "ba"]
    assert fitting(["xy"], Chars("ab"), 8) == []


@pytest.mark.parametrize(("name", "first"), [("mini-gpt", "In France"), ("gpt2-small", "In France")])
def test_models_without_a_corpus_of_their_own_get_the_first_one(name, first):
    assert training_records(name)[0].text.startswith(first)


def test_an_untrained_character_model_gets_chinese_lines():
    assert all(ord(record.text[0]) > 0x3000 for record in training_records("poems"))
