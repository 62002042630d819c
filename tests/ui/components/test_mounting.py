"""All components mount in a Streamlit script, and their source carries no way to read text as HTML."""

import pytest
from streamlit.testing.v1 import AppTest

from minigpt.ui.components import assets, packing
from tests.ui.components.payloads import unpack

NAMES = ["chips", "matrix", "gallery", "pipeline", "anatomy", "table"]


def script():
    import numpy as np

    from minigpt.ui.components.anatomy import PARTS, Mark, Part, anatomy
    from minigpt.ui.components.chips import Chip, chips
    from minigpt.ui.components.gallery import gallery
    from minigpt.ui.components.matrix import matrix
    from minigpt.ui.components.pipeline import Box, pipeline
    from minigpt.ui.components.table import Column, table

    text = "<img src=x onerror=alert(1)>"
    weights = np.tril(np.full((1, 2, 3, 3), 0.1))
    chips([Chip(text)], key="chips", label=text, selected=0, on_select=print)
    options = {"rows": [text] * 3, "columns": [text] * 3, "palette": "attention"}
    matrix(weights[0, 0], key="matrix", label=text, selected=(2, 1), on_select=print, **options)
    gallery(weights, key="gallery", label=text, selected=(0, 1), on_select=print)
    pipeline([Box("a", text, text, text, [0.1])], key="pipeline", label=text, on_open=print)
    words = {"label": text, "frame": text, "ends": (text, text), "selected": ""}
    boxes = {name: Part(text, text) for name in PARTS}
    columns = [Column(text, [text]), Column(text, ["1"], "share", [1.0])]
    anatomy(boxes, [Mark("a", 1, text, ("ffn",))], key="anatomy", heads=(2, 1), residual=True, on_choose=print, **words)
    table(columns, key="table", label=text, selected=0, on_select=print)


def test_each_component_mounts_and_carries_text_as_data_only():
    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    protos = [element.proto for element in app.get("bidi_component")]
    assert [proto.component_name for proto in protos] == [f"minigpt.{name}" for name in NAMES]
    for proto in protos:
        assert "onerror" not in proto.js_content + proto.html_content + proto.css_content
    header, arrays = unpack(protos[1].bytes)
    assert header["rows"][0].startswith("<img") and header["selected"] == [2, 1]
    assert arrays["values"].tolist() == [0.1, 0, 0, 0.1, 0.1, 0, 0.1, 0.1, 0.1]


@pytest.mark.parametrize("name", NAMES)
def test_source_is_inline_and_never_parses_text(name):
    js = assets.source(name, "js")
    assert "\n" in js and "export default function" in js
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"):
        assert way not in js


def test_compacting_keeps_code_and_drops_comments():
    assert assets.compact("a;\n\n  // why\n  b; // kept\n") == "a;\nb; // kept\n"


@pytest.mark.parametrize("dtype", ["int64", "float16", "bool", "complex64"])
def test_only_kinds_the_browser_reads_are_packed(dtype):
    import numpy as np

    with pytest.raises(ValueError, match="allowed are float64, float32 and uint8"):
        packing.pack({}, {"values": np.zeros(2, dtype)}, {})
