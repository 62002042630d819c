"""The sentences under the curves say what the numbers show, on curves that would make another sentence false."""

from math import nan

import pytest

from minigpt.corpus.baselines import Baselines
from minigpt.training.loop import Evaluation
from minigpt.ui.training.run_sentences import counting_words, course_words, phase_words

VERDICTS = ("memorizes", "still improving", "worse", "hardly changed")
COUNTS = Baselines(uniform=5.0, unigram=4.0, bigram=3.0, trigram=2.0, positions=10)


def said(*pairs) -> str:
    return course_words([Evaluation(50 * at, train, new, best=False) for at, (train, new) in enumerate(pairs)])


@pytest.mark.parametrize(
    ("pairs", "words", "verdicts"),
    [
        ([(7, 7), (6, 5), (5, 4.6586)], "4.6586 nats at step 100, is the lowest so far", ["still improving"]),
        ([(5.7, 5.7), (2.7, 3.8), (2.2, 3.9), (3.0, 4.0)], "3.8000 nats at step 50; at step 150 it is 4.0000", []),
        ([(5, 5), (1, 2), (0.5, 2.2), (0.4, 2.3)], "rose from 2.0000 to 2.3000 nats by step 150", ["memorizes"]),
        ([(5, 5), (4, 5.5), (3, 6)], "the untrained model was better", ["memorizes"]),
        ([(5, 5), (9, 9), (8, 8)], "before training to 8.0000 at step 100", ["worse"]),
        ([(5, 5), (1, 2), (2, 3), (3, 4)], "rose from 2.0000 nats at step 50 to 4.0000", ["worse"]),
        ([(5, 5), (4, 5), (3, 5)], "lowest is 5.0000 nats at step 0", ["hardly changed"]),
        ([(5, None), (1, None)], "no validation texts", []),
        ([(5, 5)], "Only one validation loss so far: 5.0000 nats at step 0", []),
        ([(5, 5), (1, 2), (nan, nan)], "A loss of step 100 is not a finite number", []),
    ],
)
def test_each_course_gets_its_sentence_and_no_other_verdict(pairs, words, verdicts):
    sentence = said(*pairs)
    assert words in sentence
    sentence = sentence.replace("guesses on new text get worse", "")  # what memorizing means, no verdict of its own
    assert [verdict for verdict in VERDICTS if verdict in sentence] == verdicts


def test_no_evaluation_has_no_sentence():
    assert said() == ""


def test_a_rise_is_never_called_a_fall():
    losses = [5.0] * 10 + [2.73] * 90 + [2.73 + 0.45 * step / 100 for step in range(100)]
    rise = "The batch loss got worse, from 2.73 to 3.17"
    assert rise + ": the learning rate may be too high." in phase_words(losses, [0.1] * 200)
    slow = phase_words(losses, [1e-4] * 200)
    assert slow.endswith(rise + ".") and "more slowly" not in slow


def test_other_phases_in_words():
    assert phase_words([5.0] * 99, [0.1] * 99) == ""
    said = "The batch loss has changed little so far, from 5.00 at first to 5.00 now."
    assert phase_words([5.0] * 100, [0.1] * 100) == said
    assert phase_words([5.0, nan], [0.1] * 2) == "The batch loss is not a finite number from step 2 on."
    waves = [5.0] * 10 + [2.0 if step // 10 % 2 else 3.0 for step in range(190)]
    assert "unsteady between 2.00 and 3.00 from step" in phase_words(waves, [0.1] * 200)


@pytest.mark.parametrize(
    ("best", "last", "words"),
    [
        (1.5, 1.5, "On new text it beats blind guessing and all three counts: unigram, bigram and trigram."),
        (6.0, 6.0, "On new text it does not beat blind guessing."),
        (
            3.5,
            3.7,
            "On new text it beats guessing by frequency (unigram) but not guessing from the last piece (bigram), "
            "both at its best, step 1,000, and at step 2,000.",
        ),
        (
            2.5,
            5.0,
            "On new text, at step 1,000, it beats guessing from the last piece (bigram) but not guessing from the last "
            "two pieces (trigram). On new text, at step 2,000, it does not beat blind guessing.",
        ),
    ],
)
def test_what_it_beats_of_the_counts(best, last, words):
    rows = [Evaluation(step, 1.0, loss, best=False) for step, loss in ((1000, best), (2000, last))]
    assert counting_words(rows[0], rows[0] if best == last else rows[1], COUNTS) == words
