"""What the documentation names exists, and what exists is named."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNNING = (ROOT / "docs" / "running.md").read_text("utf-8")
VARIABLE = re.compile(r"\b(?:MEMORYHUB_[A-Z_]*[A-Z]|DATABASE_URL)\b")


def variables(text: str) -> set[str]:
    return set(VARIABLE.findall(text))


def test_every_setting_has_a_row_in_the_documentation() -> None:
    rows = [line.split("|")[1] for line in RUNNING.splitlines() if line.startswith("| `")]
    read = variables((ROOT / "memoryhub" / "config.py").read_text("utf-8"))
    assert len(read) > 20
    assert read - variables("\n".join(rows)) == set()


@pytest.mark.parametrize(
    "page", [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"], ids=lambda page: page.name
)
def test_every_variable_that_a_page_names_is_read(page: Path) -> None:
    read = variables((ROOT / "memoryhub" / "config.py").read_text("utf-8"))
    assert variables(page.read_text("utf-8")) - read == set()
