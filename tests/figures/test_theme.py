"""Colours and text that all Plotly figures share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.figures import theme


@given(st.text(alphabet="<>&$ab/="))
def test_plotly_reads_no_tag_and_no_formula(text: str):
    shown = theme.plotly_text(text)
    assert not set("<>$") & set(shown)
    back = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&#36;", "$").replace("&amp;", "&")
    assert back == text


def test_shortened():
    assert theme.shortened("abcdef", 6) == "abcdef"
    assert theme.shortened("abcdefg", 6) == "abcde…"


@pytest.mark.parametrize("colour", [theme.QUERY, theme.KEY, theme.RESIDUAL, theme.PREDICTION])
def test_colours_are_seen_on_both_grounds(colour: str):
    for ground in ("#ffffff", "#11161d"):
        assert contrast(colour, ground) >= 3


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_config_has_no_logo_and_names_the_file():
    config = theme.chart_config("next-token", picture="svg")
    assert config["displaylogo"] is False
    assert config["toImageButtonOptions"] == {"format": "svg", "filename": "next-token", "scale": 1}


def test_common_frame():
    figure = theme.calm_figure([{"type": "bar", "x": [0], "y": [1]}], {"xaxis": {"range": [0, 1]}}, height=99)
    assert figure.layout.height == 99
    assert figure.layout.xaxis.fixedrange and figure.layout.xaxis.range == (0, 1)
    assert figure.layout.dragmode is False and figure.layout.showlegend is False
