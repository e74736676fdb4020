"""Cells of a CSV file that a spreadsheet does not take for formulas."""

import csv
import io
from collections.abc import Iterable

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")


def defused(value: object) -> str:
    """Return a cell as text; begin one that a spreadsheet would calculate with an apostrophe (OWASP)."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_SIGNS) or text.startswith(FORMULA_SIGNS) else text


def csv_line(cells: Iterable[object]) -> bytes:
    """Return a line of a CSV file."""
    line = io.StringIO()
    csv.writer(line).writerow([defused(cell) for cell in cells])
    return line.getvalue().encode()
