"""Memory that a large request took, given back to the system."""

import ctypes
import gc
import sys
import threading

_is_running = threading.Lock()


def release_memory() -> None:
    """Collect garbage and return free memory of the C library to the system, in a thread.

    Django's tasks of a request refer to each other, and keep its body until the garbage is collected, which may be
    never in a quiet process. What was freed then stays in the arenas of the threads unless it is trimmed.
    """
    if _is_running.acquire(blocking=False):
        threading.Thread(target=_release, name="release memory", daemon=True).start()


def _release() -> None:
    try:
        gc.collect()
        if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
            trim(0)
    finally:
        _is_running.release()
