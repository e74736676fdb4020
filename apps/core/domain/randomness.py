"""Randomness as an argument: the RNG protocol of spec 002 section 10 and its two implementations."""

import secrets
from collections.abc import Sequence
from typing import Protocol

_MODULUS_MASK = 0x7FFFFFFF
_MULTIPLIER = 1103515245
_INCREMENT = 12345


class RNG(Protocol):
    """Where random numbers come from."""

    def next_float(self) -> float:
        """Return a number in [0, 1), uniformly distributed."""
        ...


class SystemRNG:
    """The operating system's randomness."""

    def next_float(self) -> float:
        return secrets.randbits(53) / (1 << 53)


class DeterministicRNG:
    """The linear congruential generator of spec 002 section 10: the same seed returns the same sequence.

    Divides by 2^31 where the spec divides by 2^31 - 1, so that 1.0 is never returned.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._sequence: tuple[float, ...] = ()
        self._position = 0

    def next_float(self) -> float:
        if self._sequence:
            value = self._sequence[self._position % len(self._sequence)]
            self._position += 1
            return value
        self._seed = (self._seed * _MULTIPLIER + _INCREMENT) & _MODULUS_MASK
        return self._seed / (_MODULUS_MASK + 1)

    def reset(self, seed: int) -> None:
        """Start the sequence of `seed` again and forget a fixed one."""
        self._seed = seed
        self.set_sequence(())

    def set_sequence(self, values: Sequence[float]) -> None:
        """Return `values` in turn, again and again."""
        self._sequence = tuple(values)
        self._position = 0


SYSTEM_RNG: RNG = SystemRNG()
