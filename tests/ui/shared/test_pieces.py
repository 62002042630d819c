"""Finding pieces of a vocabulary by id or by what they hold."""

from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.ui.shared.pieces import byte_ids, search

LABELS = ["red", "a", "·red", "redder", "bored", "12", "›", "‹LF›"]


def test_equal_labels_come_first_then_beginnings_then_parts():
    assert search(LABELS, "red") == [0, 3, 2, 4]
    assert search(LABELS, " red") == [2] == search(LABELS, "·red")
    assert search(LABELS, "\n") == [7] == search(LABELS, "‹LF›")
    assert search(LABELS, "") == [] == search(LABELS, "xyz")


def test_a_number_is_an_id_before_it_is_a_text():
    assert search(LABELS, "5") == [5] and search(LABELS, "1") == [1, 5]
    assert search(LABELS, "12") == [5]  # no id 12 here
    assert search(LABELS, "9" * 5000) == []


def test_each_byte_has_its_own_id():
    assert byte_ids("none", ByteBPE([(97, 98)])) == {byte: byte for byte in range(256)}
