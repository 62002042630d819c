"""The longest stretch that a generated text shares with its training corpus, word for word.

The output is small and the corpus large. Two old ideas meet here: windows of the corpus whose end occurs
nowhere in the output are jumped over (Horspool 1980, "Practical fast searching in strings"), and the rest is
read by a suffix automaton of the output (Blumer et al. 1985, "The smallest automaton recognizing the subwords
of a text"). The time never grows faster than len(output) + len(corpus), and mostly much more slowly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from minigpt.sentences import Refusal

LONGEST_GRAM = 12  # items at a window's end that are looked up before the window is read


@dataclass(frozen=True)
class Copy:
    """The longest stretch that an output shares with one record; positions and lengths in items.

    Items are characters if the output is str and bytes if it is bytes. `text` is empty and `record` None if
    not even one item is shared.
    """

    text: str | bytes
    length: int
    record: int | None  # index of the record, None without a copy
    start_in_output: int
    start_in_record: int


def longest_copy(output: str | bytes, records: Sequence[str | bytes]) -> Copy:
    """The longest stretch of `output` that occurs inside one training record.

    str compares characters, bytes compares bytes (exact even for text cut inside a character); both sides
    must be of the same kind, else ValueError. Ties go to the first record, then to the earliest place in
    it, then to the earliest place in the output. A copy never runs across two records.

    Example: longest_copy("a red key", ["the red door"]).text == " red ", record 0, start_in_output 1.
    """
    kind = type(output)
    if kind not in (str, bytes):
        raise Refusal("the output must be str or bytes, got {kind}", kind=kind.__name__)
    automaton = _Automaton(output)
    grams = [{output[i : i + size] for i in range(len(output))} for size in range(LONGEST_GRAM + 1)]
    found = Copy(output[:0], 0, None, 0, 0)
    for number, record in enumerate(records):
        if type(record) is not kind:
            got = type(record).__name__
            raise Refusal(
                "record {number} must be {kind}, as the output is, got {got}",
                number=number,
                got=got,
                kind=kind.__name__,
            )
        start, length = _longer_match(automaton, grams, record, found.length)
        if length > found.length:
            text = record[start : start + length]
            found = Copy(text, length, number, output.index(text), start)  # type: ignore[arg-type]  # both str or both bytes
    return found


def _longer_match(automaton: "_Automaton", grams: list[set], record: str | bytes, best: int) -> tuple[int, int]:
    """(start in the record, length) of its longest match if longer than `best`, else (0, best).

    Only windows of best + 1 items matter. If the last items of a window occur nowhere in the output, no
    longer match covers them and the search goes on behind their start: the longer the best, the larger the
    steps. Else the automaton reads on from the window's start until little of a match is left.
    """
    start = position = 0
    while position + best < len(record):
        size = best + 1
        gram_size = min((size + 1) // 2, LONGEST_GRAM)
        known, step = grams[gram_size], size - gram_size + 1
        end = position + size
        while end <= len(record) and record[end - gram_size : end] not in known:
            end += step
        if end > len(record):
            break
        match_end, length, position = automaton.read(record, end - size, end, gram_size, best)
        if length > best:
            start, best = match_end - length, length
    return start, best


class _Automaton:
    """Accepts exactly the substrings of a text; state 0 is the empty string."""

    def __init__(self, text: str | bytes) -> None:
        self.moves: list[dict] = [{}]
        self.links, self.lengths = [-1], [0]  # suffix link and longest string of each state
        last = 0
        for item in text:
            last = self._append(last, item)

    def read(self, record: str | bytes, start: int, at_least_to: int, fewest: int, best: int) -> tuple[int, int, int]:
        """Read from `start` to `at_least_to`, and on while the current match has `fewest` items.

        Returns the end and length of the first longest match above `best` (else 0 and best), and the
        start of the match that was current when the reading stopped: no longer match starts before it.
        """
        moves, links, lengths = self.moves, self.links, self.lengths
        state = length = best_end = 0
        end = start
        while end < len(record) and (end < at_least_to or length >= fewest):
            item = record[end]
            end += 1
            while state and item not in moves[state]:
                state = links[state]
                length = lengths[state]
            if item in moves[state]:
                state = moves[state][item]
                length += 1
                if length > best:
                    best, best_end = length, end
        return best_end, best, end - length

    def _append(self, last: int, item: str | int) -> int:
        """Add the state of the text read so far plus `item`; returns it."""
        new, state = self._add({}, self.lengths[last] + 1, 0), last
        while state >= 0 and item not in self.moves[state]:
            self.moves[state][item] = new
            state = self.links[state]
        if state >= 0:
            follow = self.moves[state][item]
            exact = self.lengths[follow] == self.lengths[state] + 1
            self.links[new] = follow if exact else self._clone(state, item)
        return new

    def _clone(self, state: int, item: str | int) -> int:
        """Clone the state that `item` leads to, for the shorter strings that `state` and `item` make."""
        old = self.moves[state][item]
        clone = self._add(dict(self.moves[old]), self.lengths[state] + 1, self.links[old])
        self.links[old] = clone
        while state >= 0 and self.moves[state].get(item) == old:
            self.moves[state][item] = clone
            state = self.links[state]
        return clone

    def _add(self, moves: dict, length: int, link: int) -> int:
        self.moves.append(moves)
        self.lengths.append(length)
        self.links.append(link)
        return len(self.moves) - 1
