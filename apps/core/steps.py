"""Named steps of work on the disk, at which tests let the process die."""

from collections.abc import Callable

Step = Callable[[str], None]


def no_step(name: str) -> None:
    """Do nothing; tests pass a function that ends the process at a step."""
