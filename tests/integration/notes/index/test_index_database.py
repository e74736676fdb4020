"""How the database of an index is made where several processes want it at once."""

import fcntl

import apsw
import pytest
from django.conf import settings

from apps.notes.files.owner import folder_of
from apps.notes.index import database
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of


def is_opening_allowed():
    """Return whether another process could open an index at this moment."""
    free = []
    for path in settings.NOTES_LOCKS_DIR.glob("index-*"):
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                free.append(path)
            except BlockingIOError:
                pass
    return bool(free)


@pytest.mark.parametrize("state", ["missing", "empty", "damaged", "of another version"])
def test_database_is_made_while_no_other_process_opens_it(state, monkeypatch):
    """SQLite refuses the change of the journal at once where two connections begin it, whatever their patience."""
    folder_of("ana").path.mkdir(parents=True)
    (folder_of("ana").path / "MEMORY.md").write_text("- tea\n")
    path = place_of("ana").database
    path.parent.mkdir(parents=True)
    if state == "empty":
        path.touch()
    elif state == "damaged":
        path.write_bytes(b"damaged" * 1_000)
    elif state == "of another version":
        other = apsw.Connection(str(path))
        other.execute("PRAGMA user_version = 1; CREATE TABLE old (id)")
        other.close()
    create, allowed = database.create_tables, []

    def observe(connection):
        allowed.append(is_opening_allowed())
        create(connection)

    monkeypatch.setattr(database, "create_tables", observe)
    index_of(place_of("ana")).refresh()
    assert allowed
    assert set(allowed) == {False}
    with index_of(place_of("ana")).database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM texts").get == 1
        assert connection.pragma("journal_mode") == "wal"
    assert len(allowed) <= 2, "made once, after one that had to go"
