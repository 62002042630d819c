"""Figures of a corpus."""

import numpy as np

from minigpt.corpus.statistics import histogram
from minigpt.figures.corpus import POINTS, compression_chart, lengths_chart, pieces_chart
from minigpt.figures.theme import BAR, TARGET


def test_bars_of_records_beyond_the_context_are_marked():
    counts, edges = histogram(np.array([3, 3, 4, 9]))
    chart = lengths_chart(counts, edges, context_length=9)
    bars = chart["series"][0]["data"]
    assert chart["xAxis"]["data"][0] == "3" and chart["xAxis"]["data"][-1] == "9"
    assert [bar["value"] for bar in bars] == [2, 1, 0, 0, 0, 0, 1]
    assert [bar["itemStyle"]["color"] for bar in bars[-2:]] == [BAR, TARGET]  # 8 tokens and BOS fit into 9, 9 do not
    unmarked = lengths_chart(counts, edges)["series"][0]["data"]
    assert {bar["itemStyle"]["color"] for bar in unmarked} == {BAR}


def test_wide_bars_name_their_ends():
    counts, edges = histogram(np.arange(100), bars=10)
    assert lengths_chart(counts, edges)["xAxis"]["data"][:2] == ["0–9", "10–19"]


def test_compression_starts_at_one_byte_a_token_and_keeps_both_ends():
    chart = compression_chart([80, 50], size=100, wanted=8)
    assert chart["series"][0]["data"] == [[0, 1.0], [1, 1.25], [2, 2.0]]
    assert chart["xAxis"]["max"] == 8
    long = compression_chart(list(range(9999, 0, -1)), size=10_000, wanted=9999)["series"][0]["data"]
    assert len(long) == POINTS and long[0] == [0, 1.0] and long[-1] == [9999, 10_000.0]


def test_pieces_keep_their_order_and_text():
    chart = pieces_chart(["<b>", "e·"], np.array([5, 3]))
    assert chart["yAxis"]["data"] == ["<b>", "e·"] and chart["series"][0]["data"] == [5, 3]
