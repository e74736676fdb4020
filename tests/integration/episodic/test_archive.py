"""The directory of segment files: a name means a complete, verified file, whatever happens concurrently."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from pytest_django import Settings

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentSummary
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.store import files
from apps.episodic.store.files import (
    WRITE_STEPS,
    list_files,
    remove_file,
    remove_parts,
    segment_place,
    set_aside,
    write_segment,
)
from apps.episodic.store.segment_files import new_file_name
from tests.integration.episodic.segments import SEGMENT, some_records
from tests.segments import segment_path

NAME = "20260102T030405000006-5e9ed0d5.segment"
RECORDS = some_records(300)
BEFORE_RENAME = WRITE_STEPS[: WRITE_STEPS.index("rename") + 1]


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, settings: Settings) -> Path:
    settings.TIMELINE_DIR = tmp_path / "data" / "timeline"
    return settings.TIMELINE_DIR


def require_good(summary: SegmentSummary, records: list[EventRecord] = RECORDS) -> None:
    file = SegmentFile.open(segment_place(NAME), SEGMENT)
    file.verify(summary.sha256)
    assert list(file.events()) == records


def test_file_is_written_whole_and_is_for_its_owner_only(directory: Path) -> None:
    summary = write_segment(SEGMENT, NAME, iter(RECORDS))

    require_good(summary)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / NAME).stat().st_mode) == 0o600
    assert [path.name for path in directory.iterdir()] == [NAME]


def test_steps_are_reported_in_their_order() -> None:
    steps: list[str] = []
    write_segment(SEGMENT, NAME, RECORDS, steps.append)

    assert tuple(steps) == WRITE_STEPS


def test_file_has_its_name_only_after_it_was_verified(directory: Path) -> None:
    seen: dict[str, list[str]] = {}
    write_segment(SEGMENT, NAME, RECORDS, lambda step: seen.update({step: list(list_files().segments)}))

    assert all(seen[step] == [] for step in BEFORE_RENAME)
    assert seen["fsync_directory"] == seen["done"] == [NAME]


def test_what_is_read_back_otherwise_than_it_was_written_never_gets_name(directory: Path) -> None:
    def damage(step: str) -> None:
        if step == "verify":
            (part,) = directory.glob("*.part")
            content = bytearray(part.read_bytes())
            content[1_000] ^= 1
            part.write_bytes(content)

    with pytest.raises(SegmentDamagedError) as caught:
        write_segment(SEGMENT, NAME, RECORDS, damage)

    assert caught.value.code is Damage.CHECKSUM
    assert list(directory.iterdir()) == []


def test_events_out_of_order_leave_nothing_behind(directory: Path) -> None:
    with pytest.raises(ValueError, match="ascending"):
        write_segment(SEGMENT, NAME, reversed(RECORDS))

    assert list(directory.iterdir()) == []


def test_failure_while_events_are_read_leaves_nothing_behind(directory: Path) -> None:
    def failing() -> Iterator[EventRecord]:
        yield from RECORDS[:100]
        raise RuntimeError("the database went away")

    with pytest.raises(RuntimeError, match="went away"):
        write_segment(SEGMENT, NAME, failing())

    assert list(directory.iterdir()) == []


def test_second_file_of_name_takes_place_of_first() -> None:
    write_segment(SEGMENT, NAME, RECORDS[:10])
    summary = write_segment(SEGMENT, NAME, RECORDS)

    require_good(summary)


def test_what_killed_process_had_begun_is_written_over(directory: Path) -> None:
    list_files()
    (directory / f"{NAME}.part").write_bytes(b"x" * 1_000_000)

    require_good(write_segment(SEGMENT, NAME, RECORDS))


def test_link_in_place_of_part_is_not_followed(directory: Path, tmp_path: Path) -> None:
    list_files()
    (tmp_path / "elsewhere").write_text("mine")
    (directory / f"{NAME}.part").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic"):
        write_segment(SEGMENT, NAME, RECORDS)
    assert (tmp_path / "elsewhere").read_text() == "mine"


# A process of its own is ended in the middle, as a power failure or an operator would.

_CHILD = """
import os, resource, signal, sys
from pathlib import Path
from django.conf import settings
settings.configure(TIMELINE_URL="", TIMELINE_DIR=Path(sys.argv[1]))
from apps.core import file_roots
from apps.episodic.store.files import write_segment
file_roots.expect("")  # there is no database
from tests.integration.episodic.segments import SEGMENT, some_records

def stop(name):
    if name == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

def records():
    for number, record in enumerate(some_records(300)):
        stop(f"event {number}")
        yield record

if sys.argv[3] == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
write_segment(SEGMENT, sys.argv[2], records(), stop)
"""


def run_child(directory: Path, stop: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(files.__file__).parents[3])}
    return subprocess.run(
        [sys.executable, "-c", _CHILD, str(directory), NAME, stop],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("stop", "was_there"),
    [(stop, False) for stop in (*WRITE_STEPS, "event 0", "event 150", "event 299")]
    + [(stop, True) for stop in ("event 150", "rename", "fsync_directory")],
)
def test_process_killed_at_any_step_leaves_no_file_or_good_one(directory: Path, stop: str, *, was_there: bool) -> None:
    earlier = write_segment(SEGMENT, NAME, RECORDS[:10]) if was_there else None

    assert run_child(directory, stop).returncode == -signal.SIGKILL

    if stop in ("fsync_directory", "done"):
        assert list(SegmentFile.open(segment_place(NAME)).events()) == RECORDS
        assert list_files().parts == ()
    elif earlier:
        require_good(earlier, RECORDS[:10])
    else:
        assert list_files().segments == ()
    remove_parts()
    require_good(write_segment(SEGMENT, NAME, RECORDS))
    assert [path.name for path in directory.iterdir()] == [NAME]


def test_full_disk_is_error_of_system_and_leaves_no_part(directory: Path) -> None:
    ended = run_child(directory, "full")

    assert ended.returncode == 1
    assert "OSError: [Errno 27]" in ended.stderr
    assert list(directory.iterdir()) == []


# Names, removing and setting aside.


def test_name_says_when_and_which_segment_and_is_another_one_each_time() -> None:
    name = new_file_name(SEGMENT, datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC))

    assert name == f"20260102T030405000006-{SEGMENT}.segment"
    assert segment_path(name).name == name
    assert len(name) <= 100
    assert new_file_name(SEGMENT, datetime(2026, 1, 2, 3, 4, 5, 7, tzinfo=UTC)) != name
    assert new_file_name(UUID(int=1), datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)) != name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a",
        "../a.segment",
        "/etc/a.segment",
        "a/b.segment",
        ".segment",
        "a.segment\n",
        "a.segment.part",
        "ä.segment",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    for call in (segment_place, remove_file, set_aside):
        with pytest.raises(ValueError, match="no name"):
            call(name)
    with pytest.raises(ValueError, match="no name"):
        write_segment(SEGMENT, name, RECORDS)


def test_a_file_is_removed_once() -> None:
    write_segment(SEGMENT, NAME, RECORDS)

    assert remove_file(NAME) is True
    assert remove_file(NAME) is False
    assert list_files().segments == ()


def test_parts_are_removed_and_files_stay(directory: Path) -> None:
    write_segment(SEGMENT, NAME, RECORDS)
    (directory / "a.segment.part").write_bytes(b"half")

    assert remove_parts() == 1
    assert remove_parts() == 0
    assert list_files().segments == (NAME,)


def test_file_that_is_set_aside_is_kept_as_it_is(directory: Path) -> None:
    write_segment(SEGMENT, NAME, RECORDS)
    content = (directory / NAME).read_bytes()
    set_aside(NAME)
    target = directory / "quarantine" / NAME

    assert target.read_bytes() == content
    assert target.parent == directory / "quarantine"
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    assert (list_files().segments, list_files().quarantined) == ((), (NAME,))


def test_second_file_of_name_that_is_set_aside_does_not_replace_first(directory: Path) -> None:
    for count in (1, 2, 3):
        write_segment(SEGMENT, NAME, RECORDS[:count])
        set_aside(NAME)

    counts = [SegmentFile.open(directory / "quarantine" / name).summary.event_count for name in _aside()]
    assert sorted(counts) == [1, 2, 3]


def _aside() -> tuple[str, ...]:
    return list_files().quarantined


def test_file_that_is_not_there_cannot_be_set_aside() -> None:
    with pytest.raises(SegmentDamagedError) as caught:
        set_aside(NAME)

    assert caught.value.code is Damage.MISSING


def test_listing_tells_files_from_parts_and_from_what_others_left(directory: Path) -> None:
    write_segment(SEGMENT, NAME, RECORDS)
    for name in ("a.segment.part", "README", "b segment.segment"):
        (directory / name).write_text("")
    (directory / "quarantine").mkdir()

    listing = list_files()

    assert listing.segments == (NAME,)
    assert listing.parts == ("a.segment.part",)
    assert listing.others == ("README", "b segment.segment")
    assert listing.quarantined == ()
