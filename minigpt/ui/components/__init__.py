"""The app's own controls: token chips, one-canvas matrices, the gallery of heads, and the pipeline.

Each is a Streamlit components-v2 element: a Python function that checks its arguments and packs a payload,
with a `.js` and a `.css` file of the same name beside it. `shared.js` and `shared.css` come before each of
them. Text of the reader travels only as data and is written with `textContent` or on a canvas, never as HTML.
"""
