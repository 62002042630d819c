"""What this app knows about Streamlit and could forget: each test says which line of ours depends on it."""

import tomllib
from pathlib import Path

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"


def _message(path: list[int], fragment: str = "") -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    if fragment:
        message.delta.fragment_id = fragment
        message.delta.add_block.vertical.SetInParent()
    else:
        message.ref_hash = "0" * 32
    return message


def test_references_outlive_their_parents():
    """A fragment that runs again before its messages were sent loses its blocks and keeps its references: the
    browser then looks for a place that is not there, and the page stays blank. When this fails, Streamlit is
    mended and `minCachedMessageSize` in config.toml can go."""
    queue = ForwardMsgQueue()
    queue.enqueue(_message([0, 5], "panel"))
    queue.enqueue(_message([0, 5, 1]))
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["panel"])
    assert [list(message.metadata.delta_path) for message in queue.flush()] == [[0, 5, 1]]
    settings = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    assert settings["global"]["minCachedMessageSize"] > 1e9  # bytes; no message is as large
