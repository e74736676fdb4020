"""What the watcher does where the notes cannot be watched."""

import logging

from apps.notes.index import watch
from apps.notes.index.watch import MAX_PAUSE_SECONDS, NotesWatcher, Pause


def test_pause_grows_while_the_reason_is_the_same():
    pause = Pause()
    assert [pause.is_new("limit") for _ in range(12)] == [True] + [False] * 11
    assert pause.seconds == MAX_PAUSE_SECONDS
    assert pause.is_new("another")
    assert pause.seconds == 1.0


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
