"""A backup of a hub that is written to is whole, and is there completely or not at all."""

import json
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from memoryhub.postgres.server import EmbeddedDatabase
from tests.system.hub import PROJECT, Hub, wait_for
from tests.system.test_killed_midway import KEY, call

pytestmark = pytest.mark.xdist_group("hub")
# Written before each backup at least, of each kind.
FIRST = 15
# Between two of a kind: before the backup, and while it is made.
BETWEEN, BETWEEN_UNDER_LOAD = 0.2, 0.05
MOVE = """
from django.core.management import call_command
call_command("timeline", "seal")
call_command("timeline", "maintain")
"""
USER = "ana"
# So that events are in files, and rows, and moved while the backup is made.
SETTINGS = {
    "MEMORYHUB_API_KEY": KEY,
    "MEMORYHUB_TIMELINE_SEGMENT_EVENTS": "10",
    "MEMORYHUB_TIMELINE_ARCHIVE_AFTER_HOURS": "0",
}


def word(kind: str, number: int) -> str:
    """Return a word that one memory, event or note alone has."""
    return f"{kind}{chr(97 + number // 676 % 26)}{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}"


KINDS: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    # Each of a user of its own, so that no rule takes two of them for one.
    "walrus": lambda text: ("/api/semantic/memories", {"content": f"{text} sleeps on the ice", "user_id": text}),
    "heron": lambda text: (
        "/api/episodic/events",
        {
            "content": f"{text} flew over",
            "user_id": USER,
            "event_type": "seen",
            "timestamp": datetime.now(UTC).isoformat(),
        },
    ),
    "otter": lambda text: ("/api/memory/main/entries", {"entry": f"{text} swims", "user_id": USER}),
}


class Writer(threading.Thread):
    """Writes one thing after the other, and keeps those that were acknowledged in their order."""

    def __init__(self, hub: Hub, kind: str) -> None:
        super().__init__(daemon=True)
        self.hub, self.kind, self.known = hub, kind, list[str]()
        self.stopped, self.seconds = threading.Event(), BETWEEN

    def run(self) -> None:
        number = 0
        while not self.stopped.is_set():
            text = word(self.kind, number)
            path, body = KINDS[self.kind](text)
            answer = call(self.hub, "POST", path, body)
            if answer is not None and answer[0] in (200, 201):
                self.known.append(text)
            number += 1
            self.stopped.wait(self.seconds)


@pytest.fixture(scope="module")
def hub(make_place: Callable[[], Path]) -> Iterator[Hub]:
    hub = Hub(make_place() / "hub", **SETTINGS)
    hub.make_cluster()
    hub.start()
    yield hub
    hub.end()


@pytest.fixture
def written(hub: Hub) -> Iterator[list[Writer]]:
    """Writers of each kind that have written something, and go on."""
    writers = [Writer(hub, kind) for kind in KINDS]
    for writer in writers:
        writer.start()
    for writer in writers:
        wait_for(lambda writer=writer: len(writer.known) >= FIRST, "the first writes")
    yield writers
    stop(writers)


def stop(writers: list[Writer]) -> None:
    for writer in writers:
        writer.stopped.set()
    for writer in writers:
        writer.join(30)


def succeed(hub: Hub, *arguments: str, **environment: str) -> str:
    """Run a command that has to succeed; return what it says."""
    answer = hub.command(*arguments, **environment)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def found(hub: Hub, kind: str, text: str) -> bool:
    """Return whether a search for a word finds what has it."""
    if kind == "otter":
        path = f"/api/memory/search?{urlencode({'user_id': USER, 'q': text, 'limit': 3})}"
        _, answer = call(hub, "GET", path) or (0, {})
        return any(text in hit["text"] for hit in answer["results"])
    if kind == "heron":
        _, answer = call(hub, "POST", "/api/episodic/query", {"user_id": USER, "query": text, "top_k": 3}) or (0, {})
        return any(text in event["content"] for event in answer["results"])
    _, answer = call(hub, "POST", "/api/semantic/search", {"user_id": text, "query": text, "top_k": 3}) or (0, {})
    return any(text in hit["memory"]["content"] for hit in answer["results"])


def doctor(hub: Hub) -> dict[str, str]:
    """Return the severity of each finding by its code."""
    answer = hub.command("doctor", "--json", "--files")
    report = json.loads(answer.stdout)
    assert answer.returncode == report["exit_code"]
    return {one["code"]: one["severity"] for each in report["examinations"] for one in each["findings"]}


def test_what_was_acknowledged_before_a_backup_under_load_is_restored_and_found(
    hub: Hub, written: list[Writer], make_place: Callable[[], Path]
) -> None:
    hub.shell(MOVE)
    folder = make_place()
    for writer in written:
        writer.seconds = BETWEEN_UNDER_LOAD
    before = {writer.kind: list(writer.known) for writer in written}
    succeed(hub, "backup", str(folder), "--verify")
    assert all(len(writer.known) > len(before[writer.kind]) for writer in written), "the hub went on"
    stop(written)
    [archive] = folder.iterdir()
    assert archive.stat().st_mode & 0o777 == 0o600
    restored = Hub(make_place() / "hub", **SETTINGS)
    succeed(restored, "restore", str(archive))
    try:
        assert set(doctor(restored).values()) <= {"notice"}
        names = {path.name for path in (restored.data_dir / "timeline").iterdir()}
        assert any(name.endswith(".segment") for name in names)
        restored.start()
        assert "First start" not in restored.said(), "nothing is made anew"
        lost = [text for kind, texts in before.items() for text in texts if not found(restored, kind, text)]
        assert lost == []
        wait_for(lambda: doctor(restored) == {}, "a sound hub")
    finally:
        restored.end()


def test_a_backup_that_is_killed_leaves_none(hub: Hub, make_place: Callable[[], Path]) -> None:
    folder = make_place()
    command = [sys.executable, "manage.py", "backup", str(folder / "hub.zip")]
    process = subprocess.Popen(
        command, cwd=PROJECT, env=hub.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for(lambda: list(folder.glob(".hub.zip.*.part")) or process.poll() is not None, "a half archive")
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (folder / "hub.zip").exists()
    assert len(list(folder.iterdir())) == 1
    succeed(hub, "backup", str(folder / "hub.zip"))
    assert [path.name for path in folder.iterdir()] == ["hub.zip"], "what was left is removed"
    assert "can be restored" in succeed(hub, "restore", "--check", str(folder / "hub.zip"))


def test_a_full_disk_is_said_and_leaves_nothing(hub: Hub, make_place: Callable[[], Path]) -> None:
    disk = make_place()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        answer = hub.command("backup", str(disk / "hub.zip"))
        assert answer.returncode == 1
        assert f"{disk}/hub.zip cannot be written: No space left on device." in answer.stderr
        assert "Traceback" not in answer.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_restore_that_is_killed_is_not_started(hub: Hub, make_place: Callable[[], Path]) -> None:
    archive = make_place() / "hub.zip"
    succeed(hub, "backup", str(archive), "--without-secrets")
    assert "secret_key" not in zipfile.ZipFile(archive).namelist()
    other = Hub(make_place() / "hub", **SETTINGS)
    command = [sys.executable, "manage.py", "restore", str(archive)]
    process = subprocess.Popen(
        command, cwd=PROJECT, env=other.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for(lambda: (other.data_dir / "restoring" / "postgres").exists() or process.poll() is not None, "a restore")
    process.kill()
    process.communicate()
    EmbeddedDatabase(other.data_dir / "restoring").stop()
    assert process.returncode == -signal.SIGKILL
    answer = other.command("up")
    assert answer.returncode != 0
    assert "was cut off" in answer.stdout + answer.stderr
    again = other.command("restore", str(archive))
    assert "is not empty: it has restoring." in again.stderr
