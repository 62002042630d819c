"""Pipeline: what the browser gets, and what is refused."""

import json

import numpy as np
import pytest

from minigpt.ui.components.pipeline import Box, payload


def box(**changes):
    return Box(**{"id": "a", "title": "A", "shape": "[1]", "sentence": "s", **changes})


def test_text_and_numbers_reach_the_payload_unchanged():
    values = np.array([0.1, -2.5, 1e-300])
    sent = json.loads(json.dumps(payload([box(title="<b>$x$</b>", values=values)], label="map")))
    assert sent["boxes"][0]["title"] == "<b>$x$</b>"
    assert sent["boxes"][0]["values"] == values.tolist()


def test_a_box_without_values_has_no_strip():
    assert payload([box()], label="map")["boxes"][0]["values"] is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"palette": "rainbow"}, "palette 'rainbow'; allowed are signed"),
        ({"role": "hero"}, "role 'hero'; allowed are query"),
        ({"values": []}, "0 values; allowed are 1 to 64"),
        ({"values": [0.0] * 65}, "65 values"),
        ({"values": [float("nan")]}, "not finite"),
    ],
)
def test_wrong_boxes_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        box(**changes)


@pytest.mark.parametrize("boxes", [[], [box(), box()]])
def test_ids_must_exist_once(boxes):
    with pytest.raises(ValueError, match="at least one and none twice"):
        payload(boxes, label="map")
