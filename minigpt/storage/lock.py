"""One writer a folder: an operating-system lock, which ends with the process that holds it.

The lock is on the file `.writer` of the run folder. It also says who holds it, for the message to
the second one; only the lock itself decides.

`filelock` from PyPI cannot replace this: it has no shared lock on a file for those who only ask, so two readers that
ask at the same moment would take each other for a writer; and it does not say when the locked folder was deleted.
"""

import json
import os
import sys
import time
from pathlib import Path

from minigpt.sentences import Refusal

PATIENCE = 0.3  # seconds; a reader that asks whether the lock is held has it for a moment
_FAR = 1 << 20  # Windows locks bytes: one that the text of the file never reaches


class FolderLock:
    """The right to write in `folder`, from construction to `release`.

    Raises ValueError that names the holder when another process (or another part of this one) has it.
    """

    def __init__(self, folder: Path):
        self.path = folder / ".writer"
        try:
            self._file = self.path.open("a+", encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Refusal("there is no run folder {folder}", folder=folder) from error
        deadline = time.monotonic() + PATIENCE
        while not _lock(self._file.fileno()):
            if time.monotonic() > deadline:
                refusal = self._refusal(folder)
                self._file.close()
                raise refusal
            time.sleep(0.02)
        self._file.truncate(0)
        json.dump({"pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}, self._file)
        self._file.flush()

    def is_valid(self) -> bool:
        """Whether the folder is still there, and still the one that was locked."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), os.stat(self.path))
        except OSError:
            return False

    def release(self) -> None:
        """Let the next one write."""
        self._file.close()

    def _refusal(self, folder: Path) -> Refusal:
        self._file.seek(0)
        try:
            holder = json.loads(self._file.read())
            return Refusal(
                "{folder} is being written by process {pid} since {since}; stop that first",
                folder=folder,
                pid=holder["pid"],
                since=holder["since"],
            )
        except (ValueError, KeyError, TypeError):
            return Refusal("{folder} is being written by another process; stop that first", folder=folder)


def is_held(folder: Path) -> bool:
    """Whether some process writes in `folder` now."""
    try:
        with (folder / ".writer").open("r+", encoding="utf-8") as file:
            return not _lock(file.fileno(), shared=True)
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, shared: bool = False) -> bool:
        try:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            return True
        except OSError:
            return False
else:
    import fcntl

    def _lock(descriptor: int, shared: bool = False) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
