"""A second name of a file outside, put where the hub reads: nothing of that file is shown or written, anywhere."""

from pathlib import Path
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from apps.notes.domain.places import folder_name
from tests.api import api_for

pytestmark = pytest.mark.django_db
SECRET = "the-cat-is-called-Ziggy"
NOTES = "/api/memory"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of somebody else, on the same disk."""
    file = tmp_path / "outside.md"
    file.write_text(f"- {SECRET}\n")
    return file


@pytest.fixture
def folder(notes_dir: Path) -> Path:
    place = notes_dir / "users" / folder_name("ana")
    place.mkdir(parents=True)
    return place


def test_no_call_for_notes_shows_or_writes_it(folder: Path, outside: Path) -> None:
    ana = api_for(Scope("ana"))
    for name in ("MEMORY.md", "plans.md", "daily/2026-03-04.md", "memory-config.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).hardlink_to(outside)
    calls: list[tuple[str, str, Any]] = [
        ("GET", f"{NOTES}/main", None),
        ("PUT", f"{NOTES}/main", {"text": "mine", "base_sha256": "0" * 64}),
        ("POST", f"{NOTES}/main/entries", {"entry": "tea"}),
        ("GET", f"{NOTES}/daily/2026-03-04", None),
        ("GET", f"{NOTES}/search?q={SECRET}", None),
        ("GET", f"{NOTES}/versions?path=MEMORY.md", None),
        ("GET", f"{NOTES}/config", None),
        ("PUT", f"{NOTES}/config", {"enabled": True}),
        ("GET", f"{NOTES}/status", None),
    ]
    for command in ("view", "create", "str_replace", "insert", "delete", "rename"):
        body = {
            "command": command,
            "path": "/memories/plans.md",
            "file_text": "mine",
            "old_str": "cat",
            "new_str": "dog",
            "insert_line": 0,
            "insert_text": "mine",
            "old_path": "/memories/plans.md",
            "new_path": "/memories/moved.md",
        }
        calls.append(("POST", f"{NOTES}/commands", body))
    for method, path, body in calls:
        answer = ana.call(method, path, body)
        assert answer.status_code < 500 or answer.status_code == 503, (method, path, answer.content)
        said = answer.content.decode().replace(f"q={SECRET}", "")
        assert SECRET not in said, (method, path)
    assert outside.read_text() == f"- {SECRET}\n"
    assert ana.get(f"{NOTES}/main").json()["errors"][0]["code"] == "hard_link"
    assert outside.stat().st_nlink >= 2
