"""Settings in a link: what is written is read again, and what cannot be read is named."""

import pytest

from minigpt.generation.link import read_columns, write_columns
from minigpt.generation.settings import PRESETS, SampleConfig


def test_written_settings_are_read_again():
    odd = SampleConfig(1e-40, top_k=7, top_p=0.1 + 0.2, seed=2**32 - 1, max_new_tokens=1, at_context_length="slide")
    for columns in ((PRESETS["greedy"], odd), tuple(PRESETS.values())[:4], (odd, odd, odd)):
        assert read_columns(write_columns(columns)) == columns
    assert write_columns(tuple(PRESETS.values())[:2]) == "0,0,1,31415,24;0.8,0,1,31415,24"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,0,1,1,9", "1 columns are given; allowed: 2 to 4, separated by ;"),
        (";".join(["0,0,1,1,9"] * 5), "5 columns are given"),
        ("0,0,1,1,9;0,0,1,1", "column 2 is '0,0,1,1'; allowed: temperature, top_k, top_p, seed, max_new_tokens"),
        ("0,0,1,1,9,wrap;0,0,1,1,9", "column 1 is '0,0,1,1,9,wrap'"),
        ("0,0,1,1,9;-1,0,1,1,9", "column 2, '-1,0,1,1,9': temperature is -1; allowed: 0"),
        ("0,0,1,1,9;nan,0,1,1,9", "temperature is nan"),
        ("0,0,1,1,9;1,2.5,1,1,9", "column 2, '1,2.5,1,1,9': top_k is 2.5; allowed"),
        ("0,0,0,1,9;1,2,1,1,9", r"top_p is 0; allowed: a number in \(0, 1\]"),
        ("0,7,0,1,1,9;x", "column 1 is '0,7,0,1,1,9'"),
        ("0,0,1,1,9;0,7x,1,1,9", "top_k is '7x'; allowed"),
        ("<b>;x", "column 1 is '<b>'"),
        ("", "1 columns are given"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        read_columns(text)
