"""What the watcher does where the notes cannot be watched, or an index not be made."""

import logging

import pytest

from apps.notes.files.owner import folder_of
from apps.notes.index import watch
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of
from apps.notes.index.watch import MAX_PAUSE_SECONDS, NotesWatcher, Pause, is_watching, watch_lock


def test_pause_grows_while_the_reason_is_the_same():
    pause = Pause()
    assert [pause.is_new("limit") for _ in range(12)] == [True] + [False] * 11
    assert pause.seconds == MAX_PAUSE_SECONDS
    assert pause.is_new("another")
    assert pause.seconds == 1.0


def test_one_process_watches_at_a_time(notes_dir):
    with watch_lock() as is_first, watch_lock() as is_second:
        assert (is_first, is_second) == (True, False)
        assert is_watching()
    with watch_lock() as is_next:
        assert is_next


def test_limit_of_the_kernel_is_one_warning_without_a_traceback(notes_dir, monkeypatch, caplog, db):
    tries = []

    def limited(*args, **options):
        tries.append(args)
        if len(tries) == 3:
            watcher.end(0)
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(watch, "watch", limited)
    monkeypatch.setattr(watch, "IDLE_MS", 1)
    watcher = NotesWatcher()
    with caplog.at_level(logging.WARNING, watch.logger.name):
        watcher._run()
    [record] = [each for each in caplog.records if each.name == watch.logger.name]
    assert "limit reached" in record.getMessage()
    assert record.exc_info is None
    assert len(tries) == 3


@pytest.mark.parametrize("user", ["ana", "Zoe"])
def test_index_that_could_not_be_made_at_the_first_look_is_made_later(user, monkeypatch, caplog, db):
    """Without any further change, and whatever the order of the users."""
    for each in ("ana", "Ben", "Zoe"):
        folder_of(each).path.mkdir(parents=True)
        (folder_of(each).path / "MEMORY.md").write_text("- tea\n")
    in_the_way = place_of(user).database
    in_the_way.mkdir(parents=True)
    made = []

    def changes(*args, **options):
        for number in range(3):
            yield set()
            made.append([each for each in ("ana", "Ben", "Zoe") if place_of(each).database.is_file()])
            if number == 1:
                in_the_way.rmdir()

    monkeypatch.setattr(watch, "watch", changes)
    monkeypatch.setattr(watch, "IDLE_MS", 0)
    with caplog.at_level(logging.WARNING, watch.logger.name):
        NotesWatcher()._watch()
    others = [each for each in ("ana", "Ben", "Zoe") if each != user]
    assert made == [others, others, ["ana", "Ben", "Zoe"]]
    [record] = [each for each in caplog.records if each.name == watch.logger.name]
    assert record.getMessage().endswith("could not be refreshed: unavailable CantOpenError"), "once, without a name"


def test_index_that_is_damaged_before_its_vectors_are_made_is_made_again(db):
    folder_of("ana").path.mkdir(parents=True)
    (folder_of("ana").path / "MEMORY.md").write_text("- tea\n")
    place, watcher = place_of("ana"), NotesWatcher()
    watcher._refresh([place])
    index_of(place).close()
    place.database.write_bytes(b"damaged" * 1_000)
    watcher._fill()
    with index_of(place).database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM texts").get == 1
