"""A process beside the server: low priority, its own session, an end by its input or by force."""

import os

import pytest

from minigpt.storage.subprocesses import NICENESS, end, spawn


@pytest.mark.skipif(os.name == "nt", reason="sessions and priorities of POSIX")
def test_a_child_has_low_priority_and_its_own_session():
    process = spawn("asyncio", answers=True)  # an interpreter that reads its input
    assert process.stdin is not None and process.stdout is not None
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == NICENESS
    assert os.getsid(process.pid) == process.pid != os.getsid(0)
    end(process, 20.0)
    assert process.returncode == 0
    process.stdout.close()


def test_a_child_that_goes_on_is_killed():
    process = spawn("http.server", "0", "--bind", "127.0.0.1", answers=True)  # never reads its input
    end(process)
    assert process.returncode != 0
    assert process.stdout is not None
    process.stdout.close()
