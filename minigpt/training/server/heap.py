"""Memory between training steps: keep what a step frees for the next one.

A step frees all its activations, some megabytes each. The C library would give them back to the system,
which clears every page again before the next step gets it: 5 to 10 % of the time of a step.
"""

import ctypes
import platform

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
LARGEST = 32 << 20  # bytes: larger pieces are given back as before
KEPT = 256 << 20  # bytes at the end of the heap that may lie idle


def keep_freed_memory() -> None:
    """Tell the C library, where it is the GNU one; elsewhere nothing happens. Changes no number."""
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, LARGEST)
        library.mallopt(M_TRIM_THRESHOLD, KEPT)
