"""What the tokens page says about a text, without a browser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.inspection.sources import preset_tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.ui.tokens.token_facts import origin, replay, split_characters, typed_specials, vocabulary_rows

MG1 = preset_tokenizer("mg-1")


def test_replay_by_hand():
    tokenizer = ByteBPE([(114, 101), (259, 100)])  # re, red
    states = replay(tokenizer, "red re")
    assert [state.ids for state in states] == [
        (114, 101, 100, 32, 114, 101),
        (259, 100, 32, 259),
        (260, 32, 259),
    ]
    assert [(step.rank, step.left, step.right, step.id) for step in (state.step for state in states[1:])] == [
        (0, 114, 101, 259),
        (1, 259, 100, 260),
    ]
    assert [(state.before, state.places) for state in states] == [(6, 0), (6, 2), (4, 1)]


@given(st.text())
def test_replay_starts_with_the_bytes_and_ends_with_the_tokens(text: str):
    states = replay(MG1, text)
    assert bytes(states[0].ids) == text.encode()
    assert list(states[-1].ids) == MG1.encode(text)
    for state in states:
        assert MG1.decode(state.ids) == text
        assert state.step is None or state.ids.count(state.step.id) == state.places > 0


def test_split_characters_by_hand():
    found = split_characters(ByteBPE([(0xE6, 0xB3)]), "a法é法")
    assert [(split.text, split.ids) for split in found] == [("法", (259, 0x95)), ("é", (0xC3, 0xA9))]
    whole = ByteBPE([(0xE6, 0xB3), (259, 0x95), (97, 260)])
    assert split_characters(whole, "a法") == []


@given(st.text())
def test_the_pieces_of_a_split_character_hold_its_bytes(text: str):
    for split in split_characters(MG1, text):
        assert len(split.ids) > 1 and split.text in text
        assert split.text.encode() in MG1.decode_bytes(split.ids)


def test_vocabulary_names_every_id_once_and_how_it_was_made():
    rows = vocabulary_rows(MG1, range(MG1.vocab_size))
    assert [id for id, *_ in rows] == list(range(291))
    assert len({piece for _, piece, *_ in rows}) == 291
    assert rows[65] == (65, "A", "41", "byte 65")
    assert rows[257] == (257, "‹EOS›", "–", "special: no text is encoded as it")
    assert rows[265] == (265, "he·", "68 65 20", "rank 6: 104 + 260  (h + e·)")


@pytest.mark.parametrize("id", range(259, 291))
def test_a_merge_is_the_bytes_of_its_two_sides(id: int):
    left, right = (int(part) for part in origin(MG1, id).split(": ")[1].split("  ")[0].split(" + "))
    assert MG1.piece_bytes(id) == MG1.piece_bytes(left) + MG1.piece_bytes(right)


def test_typed_names_of_specials_are_bytes():
    for text, ids in typed_specials(MG1):
        assert not {256, 257, 258} & set(ids)
        assert MG1.decode(ids) == text
