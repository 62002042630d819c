"""What the samples of a run go on from."""

from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.library import bundled_corpus
from minigpt.training.samples import common_start


def corpus(*texts: str) -> Corpus:
    return Corpus("some", tuple(Record(str(i), text) for i, text in enumerate(texts)))


def test_the_commonest_beginning():
    assert common_start(bundled_corpus()) == "The key is "
    assert common_start(corpus("a box is shut", "the key is red", "the key is blue")) == "the key is "
    assert common_start(corpus("one", "two")) == "one"


def test_a_beginning_is_short_and_of_one_line():
    assert common_start(corpus("法国的首都叫巴黎,现在的上限是七百五十元。")) == "法国"
    assert common_start(corpus("春眠不觉晓", "春风", "春眠")) == "春眠"
    assert common_start(corpus("\nnext line")) == ""
    assert common_start(corpus("To be\nor not")) == "To be"


def test_a_beginning_ends_where_a_word_ends():
    assert common_start(corpus("remember apples and pears")) == "remember "
    assert common_start(corpus("# heading `code` here")) == "# heading "
    assert common_start(corpus("incomprehensibilities abound")) == "incomprehensibilities "
    assert common_start(corpus("    if x: return")) == "    if x: "
    assert common_start(corpus("A" * 60)) == "AA"
