"""Faults that the tests must notice, planted one after the other (`uv run python -m tests.faults`)."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

PLACE = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True)
class Fault:
    """A text of the product, and what is planted in its place. tests: the paths that should notice it.

    kind: `pure`, `services`, `pages` or `processes`.
    """

    kind: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def read_faults() -> list[Fault]:
    """Return the faults in the order of the list."""
    listed = tomllib.loads(PLACE.read_text())
    return [Fault(kind=kind, **{**one, "tests": tuple(one["tests"])}) for kind in listed for one in listed[kind]]
