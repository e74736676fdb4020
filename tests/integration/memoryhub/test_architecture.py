"""The dependency contracts catch what they are there for: a planted violation fails the check."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]

PLANTED = [
    ("apps/core/domain/clock.py", "import apps.semantic.selectors", "An app imports only from the layers below it"),
    ("apps/events/tasks.py", "import apps.llm.models", "An app imports only from the layers below it"),
    ("apps/retrieval/domain/rows.py", "import apps.events.models", "An app imports only from the layers below it"),
    ("apps/retrieval/domain/query.py", "import django", "The domain imports no framework"),
    ("apps/llm/domain/embedder.py", "import psycopg", "The domain imports no framework"),
    ("memoryhub/urls.py", "import benchmarks.texts", "The product imports no benchmarks"),
    ("apps/llm/guards/rules.py", "import apps.llm.gateway.chat", "Packages of llm import only from the layers below"),
    (
        "apps/episodic/store/rows.py",
        "import apps.episodic.queries.query",
        "Packages of episodic import only from the layers below",
    ),
    (
        "apps/semantic/conflicts/receipts.py",
        "import apps.semantic.memories.save",
        "Packages of semantic import only from the layers below",
    ),
    ("apps/core/health.py", "import memoryhub.config.hub", "Apps know nothing of the composition root"),
]


@pytest.fixture(scope="module")
def project(make_place) -> Path:
    """A copy of the code."""
    place = make_place()
    for name in ("apps", "memoryhub", "benchmarks"):
        shutil.copytree(PROJECT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "pyproject.toml", place)
    (place / "tests").mkdir()
    shutil.copy(PROJECT / "tests" / "contracts.py", place / "tests")
    return place


def check(project: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)


def test_the_code_keeps_every_contract(project: Path) -> None:
    assert check(project).returncode == 0


@pytest.mark.parametrize(("file", "line", "contract"), PLANTED)
def test_a_planted_violation_is_found(project: Path, file: str, line: str, contract: str) -> None:
    path = project / file
    before = path.read_text()
    path.write_text(f"{before}\n{line}\n")
    try:
        result = check(project)
    finally:
        path.write_text(before)
    assert result.returncode == 1
    assert f"{contract} BROKEN" in result.stdout


def test_an_app_that_no_layer_names_is_found(project: Path) -> None:
    app = project / "apps" / "stray"
    app.mkdir()
    (app / "__init__.py").touch()
    try:
        result = check(project)
    finally:
        shutil.rmtree(app)
    assert result.returncode == 1
    assert "stray" in result.stdout
