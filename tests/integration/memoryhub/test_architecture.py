"""The dependency contracts catch what they are there for: a planted violation fails the check."""

import re
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


def module_of(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def check(project: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def answer(make_place) -> str:
    """What the check says of a copy of the code with all violations at once, and an app that no layer names."""
    place = make_place()
    for name in ("apps", "memoryhub", "benchmarks"):
        shutil.copytree(PROJECT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "pyproject.toml", place)
    (place / "tests").mkdir()
    shutil.copy(PROJECT / "tests" / "contracts.py", place / "tests")
    for file, line, _ in PLANTED:
        with (place / file).open("a") as code:
            code.write(f"\n{line}\n")
    (place / "apps" / "stray").mkdir()
    (place / "apps" / "stray" / "__init__.py").touch()
    done = check(place)
    assert done.returncode == 1
    return done.stdout


def reason(answer: str, contract: str) -> str:
    """Return what the check says of a broken contract, on one line."""
    _, _, reasons = answer.partition("Broken contracts")
    _, _, reason = reasons.partition(f"{contract}\n---")
    return " ".join(re.split(r"\n-{5,}", reason)[0].split())


def test_the_code_keeps_every_contract() -> None:
    assert check(PROJECT).returncode == 0


@pytest.mark.parametrize(("file", "line", "contract"), PLANTED)
def test_a_planted_violation_is_found(answer: str, file: str, line: str, contract: str) -> None:
    assert f"{contract} BROKEN" in answer
    assert f"{module_of(file)} -> {line.removeprefix('import ')} (l." in reason(answer, contract)


def test_an_app_that_no_layer_names_is_found(answer: str) -> None:
    assert "apps.stray" in reason(answer, "An app imports only from the layers below it")
