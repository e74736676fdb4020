"""The index of notes beside real watchers, crowds and kills: it is equal to the files in the end."""

import os
import signal
import time

import pytest

from apps.core.domain.scope import system_access
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of
from apps.notes.index.refresh import REFRESH_STEPS
from apps.notes.selectors import index_status, notes_search
from apps.notes.services import index_rebuild, index_refresh
from tests.system.notes_process import PATIENCE, append_many, begin, die_at, killed, save_like_an_editor

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("notes_dir"),
    pytest.mark.xdist_group("killed"),
]
ACCESS = system_access("test")


@pytest.fixture
def ana(notes_dir):
    """The folder of ana's notes."""
    folder = notes_dir / "users" / "ana"
    folder.mkdir(parents=True)
    return folder


def indexed():
    """Return the texts in the index of ana, as a search sees it, without bringing it up to date."""
    if not place_of("ana").database.exists():
        return []
    with index_of(place_of("ana")).database.connection() as connection:
        connection.execute("BEGIN")  # all of it at one moment
        joined = "chunks JOIN files ON files.id = file_id JOIN texts ON texts.id = text_id"
        sql = f"SELECT path, first_line, text FROM {joined}"
        rows = sorted(connection.execute(sql))
        words = connection.execute("SELECT count(*) FROM words WHERE words MATCH 'word'").get
        assert words == connection.execute("SELECT count(*) FROM texts").get
        connection.execute("COMMIT")
        return rows


def in_files(folder):
    return sorted(
        (path.name, number, line)
        for path in folder.glob("*.md")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line
    )


def fill(folder, first, last):
    for number in range(first, last):
        (folder / f"{number}.md").write_text(f"- word {number} " + "x" * 300)


def rebuild_and_die(step):
    index_rebuild("ana", step=die_at(step))


def refresh_and_die(step):
    index_refresh("ana", step=die_at(step))


@pytest.mark.parametrize("step", REFRESH_STEPS)
def test_rebuild_and_refresh_that_were_killed_are_finished_by_the_next_look(ana, step):
    fill(ana, 0, 250)
    killed(rebuild_and_die, step)
    index_refresh("ana")
    assert indexed() == in_files(ana)
    fill(ana, 249, 260)
    (ana / "3.md").unlink()
    killed(refresh_and_die, step)
    (ana / "4.md").rename(ana / "moved.md")
    assert notes_search(ACCESS, "ana", "word 259").hits
    assert indexed() == in_files(ana)


def watch_until_killed():
    from apps.notes.services import start_notes_watch

    start_notes_watch()
    time.sleep(PATIENCE)


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_index_is_rebuilt_by_itself_when_files_change(ana):
    """Spec 001, 自動重建索引: a change that the watcher detects is in the index after a debounce of 1.5 seconds."""
    fill(ana, 0, 3)
    first = begin(watch_until_killed)
    watchers = [first]
    try:
        assert wait_for(lambda: indexed() == in_files(ana), PATIENCE)
        assert index_status(ACCESS, "ana").is_watched
        watchers.append(begin(watch_until_killed))
        times = []
        for number in range(3, 9):
            began = time.monotonic()
            fill(ana, number, number + 1)
            assert wait_for(lambda: indexed() == in_files(ana), PATIENCE)
            times.append(time.monotonic() - began)
            if number == 5:
                os.kill(first.pid, signal.SIGKILL)  # the other process takes over
                first.join(PATIENCE)
        times.sort()
        assert times[len(times) // 2] < 2.0, "an edit is found within 2 seconds"
    finally:
        for process in watchers:
            process.kill()


def test_crowd_editors_and_watcher_leave_the_index_equal_to_the_files(ana):
    """Eight processes append, editors save by rename and in place, and a watcher runs."""
    main = ana / "MEMORY.md"
    main.write_text("- first\n")
    watcher = begin(watch_until_killed)
    crowd = [begin(append_many, f"process {number}", 10) for number in range(8)]
    editors = [begin(save_like_an_editor, str(main), f"editor {in_place}", 4, in_place) for in_place in (False, True)]
    try:
        while any(process.is_alive() for process in (*crowd, *editors)):
            for hit in notes_search(ACCESS, "ana", "process editor", limit=50).hits:
                assert hit.path == "MEMORY.md"
            time.sleep(0.05)
        assert {process.exitcode for process in (*crowd, *editors)} == {0}
        index_refresh("ana")
        with index_of(place_of("ana")).database.connection() as connection:
            texts = connection.execute("SELECT text FROM chunks JOIN texts ON texts.id = text_id ORDER BY position")
            assert "\n".join(text for (text,) in texts) == main.read_text().strip()
    finally:
        watcher.kill()
