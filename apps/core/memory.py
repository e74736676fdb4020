"""Memory of this process that nothing uses any more."""

import ctypes
import sys


def give_back_memory() -> None:
    """Return free memory of the C library to the system, on Linux with glibc; garbage is to be collected before."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)
