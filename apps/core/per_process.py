"""Values that a forked child must not share with its parent, such as clients with open connections."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A value that is made at its first use, once in each process, whatever the number of threads."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []
        self._of_parents: list[T] = []
        _instances.add(self)

    def get(self) -> T:
        """Return the value of this process."""
        made = self._made
        if not made:
            with self._lock:
                made = self._made
                if not made:
                    made.append(self._make())
        return made[0]

    def forget(self) -> list[T]:
        """Have the next use make a new value; return the one that was made, if any."""
        with self._lock:
            forgotten, self._made = self._made, []
            return forgotten

    def reset_in_child(self) -> None:
        """Have a forked child make its own value.

        The parent's lock may be held by a thread that was not forked, and its value is kept unused: destroying it
        would close what the parent works with.
        """
        self._of_parents += self._made
        self._lock, self._made = threading.Lock(), []


_instances: "weakref.WeakSet[PerProcess[Any]]" = weakref.WeakSet()


def reset_all_in_child() -> None:
    """Reset every value in a forked child."""
    for value in list(_instances):
        value.reset_in_child()


os.register_at_fork(after_in_child=reset_all_in_child)
