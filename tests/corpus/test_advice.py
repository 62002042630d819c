"""A first run that suits the corpus."""

from minigpt.config import TokenizerConfig
from minigpt.corpus.advice import SCORED_ROWS, advise
from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.library import bundled_corpus
from minigpt.presets import PRESETS


def corpus(*texts: str) -> Corpus:
    return Corpus("c", tuple(Record(str(i), text) for i, text in enumerate(texts)))


def test_the_shipped_corpus_gets_the_shipped_settings():
    found = advise(bundled_corpus(), longest=40)
    preset = PRESETS["mg-1"]
    assert (found.preset, found.tokenizer, found.mode) == ("mg-1", preset.tokenizer, preset.training.mode)
    assert (found.context_length, found.evaluation_rows) == (64, preset.training.evaluation_rows)


def test_a_longer_context_for_longer_records_and_windows_beyond():
    assert advise(corpus("a" * 63)).context_length == 64
    assert advise(corpus("a" * 64)).context_length == 128
    assert advise(corpus("a" * 64), longest=63).context_length == 64
    far = advise(corpus("a" * 256, "b"))
    assert (far.preset, far.mode, far.context_length) == ("mg-1", "windows", 128)
    assert advise(corpus("a" * 255, "b")).context_length == 256


def test_one_long_text_is_read_in_windows():
    found = advise(corpus("It was a dark night. " * 5000))
    assert (found.preset, found.mode, found.context_length) == ("chapter-7", "windows", 128)
    assert found.tokenizer == TokenizerConfig(merges=128) and found.evaluation_rows == SCORED_ROWS
    assert advise(corpus("word " * 100)).evaluation_rows == 0
    assert advise(corpus("word " * 1_000_000)).tokenizer.merges == 512


def test_chinese_gets_characters():
    found = advise(corpus("春眠不觉晓，处处闻啼鸟。", "夜来风雨声，花落知多少。"))
    assert (found.preset, found.tokenizer.kind, found.mode) == ("poems", "chars", "records")
    assert found.context_length == PRESETS["poems"].model.context_length
    assert advise(corpus("山" * 256)).mode == "windows"
    assert advise(corpus("one Chinese word, 春眠, among English ones")).preset == "mg-1"


def test_a_chosen_tokenizer_stays():
    chosen = TokenizerConfig("byte_bpe", 7)
    assert advise(corpus("春眠不觉晓" * 9), chosen).tokenizer == chosen
    assert advise(corpus("春眠不觉晓" * 18), chosen).mode == "windows"  # 270 bytes, at most so many tokens


def test_many_records_are_scored_in_part():
    assert advise(corpus(*(f"record {i}" for i in range(1001)))).evaluation_rows == SCORED_ROWS
