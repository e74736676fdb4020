"""Labelled pairs of statements, one in a line: label | older | newer, or label | language | older | newer."""

from pathlib import Path

FOLDER = Path(__file__).parent


def read_pairs(name: str) -> list[tuple[str, ...]]:
    """Return the fields of each line of a file that is no comment."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [tuple(field.strip() for field in line.split(" | ")) for line in lines if line and not line.startswith("#")]
