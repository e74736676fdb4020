"""What the documentation names exists, and what exists is named."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from memoryhub.embedded import MAJOR_VERSION

ROOT = Path(__file__).parents[2]
RUNNING = (ROOT / "docs" / "operate" / "configuration.md").read_text("utf-8")
READERS = [ROOT / "memoryhub" / "config.py", ROOT / "memoryhub" / "chat_config.py"]
VARIABLE = re.compile(r"\b(?:MEMORYHUB_[A-Z_]*[A-Z]|DATABASE_URL)\b")


def variables(text: str) -> set[str]:
    return set(VARIABLE.findall(text))


def variables_read() -> set[str]:
    return set().union(*(variables(path.read_text("utf-8")) for path in READERS))


def test_every_setting_has_a_row_in_the_documentation() -> None:
    rows = [line.split("|")[1] for line in RUNNING.splitlines() if line.startswith("| `")]
    read = variables_read()
    assert len(read) > 20
    assert read - variables("\n".join(rows)) == set()


@pytest.mark.parametrize(
    "page", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"], ids=lambda page: page.name
)
def test_every_variable_that_a_page_names_is_read(page: Path) -> None:
    read = variables_read()
    assert variables(page.read_text("utf-8")) - read == set()


def test_the_commands_for_a_backup_make_one(tmp_path: Path) -> None:
    section = RUNNING[RUNNING.index("## Backup") :]
    find, dump = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[:2]
    assert f"pginstall{MAJOR_VERSION}/bin" in find
    commands = (find + dump).replace("uv run python", sys.executable)
    environment = {**os.environ, "MEMORYHUB_DATA_DIR": str(settings.MEMORYHUB.data_dir)}
    subprocess.run(["sh", "-e", "-c", commands], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "memoryhub.dump").read_bytes().startswith(b"PGDMP")


def test_the_example_for_the_proxy_limits_the_page_where_people_log_in() -> None:
    assert f"location = {reverse('admin:login')} {{" in RUNNING
