"""Named steps of work on the disk: where it may end for good, and tests have it end."""

from collections.abc import Callable

Step = Callable[[str], None]


def no_step(name: str) -> None:
    """Nothing happens at a step; tests end the process there."""
