"""Ids as arrays are the ids of `encode`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.corpus import encoded
from minigpt.corpus.encoded import id_arrays
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars

BPE = ByteBPE.train(["abab cab éé", "dabb"], 8)
CHARS = Chars("abcd é\0")


@given(st.lists(st.text("abcd é\0", min_size=1, max_size=12), max_size=6), st.integers(1, 20))
@pytest.mark.parametrize("tokenizer", [BPE, CHARS], ids=["byte_bpe", "chars"])
def test_equal_to_encode(tokenizer, texts, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded, "AT_ONCE", at_once)
        assert [ids.tolist() for ids in id_arrays(texts, tokenizer)] == [tokenizer.encode(text) for text in texts]


@pytest.mark.parametrize("text", ["abX", "X", "zz", "一"])
def test_unknown_characters_are_named(text):
    with pytest.raises(ValueError, match="not among the 7 characters"):
        list(id_arrays(["ab", text], CHARS))


def test_half_a_character_is_refused():
    with pytest.raises(ValueError, match="half a character"):
        list(id_arrays(["a\ud800"], BPE))
