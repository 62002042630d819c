"""From text to ids and back: byte-level BPE, and the visible labels of pieces."""
