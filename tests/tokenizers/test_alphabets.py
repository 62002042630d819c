"""Alphabets: different characters, the common ones first, exactly as many as asked for."""

import pytest

from minigpt.tokenizers.alphabets import ASCII, common_characters


@pytest.mark.parametrize("size", [1, 96, 97, 6286, 7047])
def test_so_many_different_characters(size: int):
    characters = common_characters(size)
    assert len(characters) == len(set(characters)) == size
    assert common_characters(7047).startswith(characters)


def test_ascii_comes_first_then_what_a_line_of_verse_needs():
    assert common_characters(96) == ASCII
    assert ASCII[0] == "\n" and ASCII[1:] == "".join(chr(code) for code in range(128) if chr(code).isprintable())
    assert set("春眠不觉晓，处处闻啼鸟。「」？！：；床前明月光") <= set(common_characters(6286))


@pytest.mark.parametrize("size", [0, 7048])
def test_sizes_beyond_it_are_refused(size: int):
    with pytest.raises(ValueError, match=f"size must be 1 to 7,047 characters, got {size}"):
        common_characters(size)
