"""What a process remembers so as not to work it out again: bounded in bytes, and listed for operators."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache, update_wrapper
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

MB = 1024 * 1024
# A value that takes a larger share of its cache is not kept: it would drive out everything else.
LARGEST_SHARE = 8

P = ParamSpec("P")
T = TypeVar("T")


class CacheState(NamedTuple):
    """How full a cache of this process is. bytes: about; of words as many as they take at the most. bound: in bytes."""

    name: str
    entries: int
    bytes: int
    bound: int


_states: list[Callable[[], CacheState]] = []


def list_cache(state: Callable[[], CacheState]) -> None:
    """Have a cache listed with the others."""
    _states.append(state)


def cache_states() -> list[CacheState]:
    """Return the state of every cache of this process, the largest first; of those of one name together."""
    together: dict[str, CacheState] = {}
    for name, *figures in (state() for state in _states):
        before = together.get(name, CacheState(name, 0, 0, 0))
        together[name] = CacheState(name, *map(sum, zip(before[1:], figures, strict=True)))
    return sorted(together.values(), key=lambda one: -one.bytes)


def cache_facts() -> list[list[Any]]:
    """Return what a process publishes about its caches: name, entries, bytes and bound of each, the largest first."""
    return [list(one) for one in cache_states()]


class SizedCache:
    """The results of pure functions of texts that were asked for last, as many as fit into a size in bytes.

    Measuring a result would take longer than making most of them, so its size is that of its text: entry_bytes and, for
    each of its characters, char_bytes. These are what results take at the most, with all that they work out later.
    """

    def __init__(self, name: str, megabytes: float, *, entry_bytes: int = 500, char_bytes: int = 8) -> None:
        self.name, self.bound = name, int(megabytes * MB)
        self._entry_bytes, self._char_bytes = entry_bytes, char_bytes
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        list_cache(self.state)

    def state(self) -> CacheState:
        """Return how full it is."""
        return CacheState(self.name, len(self._kept), self._bytes, self.bound)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def find(self, key: Hashable) -> Any:
        """Return what `keep` was given for a key; None where it is not kept any more."""
        found = self._entry(key)
        return None if found is None else found[0]

    def keep(self, key: Hashable, value: Any, chars: int) -> None:
        """Keep a result that was worked out together with others. chars: of its texts."""
        self._add(key, value, self._entry_bytes + self._char_bytes * chars)

    def remember(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return a pure function that looks for its result here first. Its arguments are hashable, or have a `text`."""

        def remembered(*args: P.args, **kwargs: P.kwargs) -> T:
            key = (function, args, *kwargs.items()) if kwargs else (function, args)
            found = self._entry(key)
            if found is None:
                value = function(*args, **kwargs)
                chars = sum(len(arg if isinstance(arg, str) else getattr(arg, "text", "")) for arg in args)
                self.keep(key, value, chars)
                return value
            result: T = found[0]
            return result

        return update_wrapper(remembered, function)

    def _entry(self, key: Hashable) -> tuple[Any, int] | None:
        """Return what is kept for a key with its size, which is now the last that was asked for."""
        found = self._kept.get(key)
        if found is not None:
            with suppress(KeyError):  # another thread has just dropped it
                self._kept.move_to_end(key)
        return found

    def _add(self, key: Hashable, value: object, size: int) -> None:
        """Keep a result, and drop those that were not asked for the longest time."""
        if size * LARGEST_SHARE > self.bound:
            return
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = value, size
            self._bytes += size
            while self._bytes > self.bound:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._bytes -= dropped


def remember_words(name: str, entries: int, entry_bytes: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return what remembers the last results of a pure function of words. entry_bytes: of the largest entry."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        remembered = lru_cache(maxsize=entries)(function)

        def state() -> CacheState:
            kept = remembered.cache_info().currsize
            return CacheState(name, kept, kept * entry_bytes, entries * entry_bytes)

        list_cache(state)
        return cast("Callable[P, T]", remembered)

    return decorate
