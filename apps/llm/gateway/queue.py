"""The calls of this process that wait for room in a provider's minute, in the order in which they began to wait.

Spec 002 section 3 projects the tokens of a queue. A call counts itself and those before it: the first one is admitted
as soon as there is room for it alone, and a call that comes later cannot overtake.
"""

import threading
from collections import defaultdict

from apps.core.per_process import PerProcess


class CallQueue:
    """The waiting calls by provider; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: defaultdict[str, list[object]] = defaultdict(list)

    def depth(self, provider: str, call: object) -> int:
        """Return how many calls wait up to this one, itself among them; one that does not wait yet is the last."""
        with self._lock:
            waiting = self._waiting[provider]
            return (waiting.index(call) if call in waiting else len(waiting)) + 1

    def join(self, provider: str, call: object) -> None:
        """Let a call wait, behind all that wait already; one that waits keeps its place."""
        with self._lock:
            if call not in self._waiting[provider]:
                self._waiting[provider].append(call)

    def leave(self, provider: str, call: object) -> None:
        """Forget a call, whether it waits or not."""
        with self._lock:
            if call in self._waiting[provider]:
                self._waiting[provider].remove(call)


_queue = PerProcess(CallQueue)


def call_queue() -> CallQueue:
    """Return the queue of this process."""
    return _queue.get()
