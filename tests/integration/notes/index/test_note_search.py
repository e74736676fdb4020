"""Searching notes by words, as the files are now (spec 001, search)."""

import os
import shutil
import time
from dataclasses import replace

import pytest

from apps.core.domain.scope import Scope, system_access
from apps.notes.domain.places import folder_name
from apps.notes.index import disk, events, handles
from apps.notes.index.database import VERSION
from apps.notes.index.disk import place_of, place_of_path
from apps.notes.index.events import folder_events
from apps.notes.index.handles import index_of
from apps.notes.selectors import index_status, notes_search
from apps.notes.services import index_forget, index_rebuild, index_refresh

pytestmark = pytest.mark.django_db
ACCESS = system_access("test")


@pytest.fixture
def ana(notes_dir):
    """The folder of ana's notes."""
    folder = notes_dir / "users" / "ana"
    (folder / "daily").mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def words_only(settings):
    """Search by words only, so that what has none of them is no result."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, notes_search="keyword")


def find(query, user="ana", limit=10):
    return notes_search(ACCESS, user, query, limit=limit).hits


def paths(query, user="ana"):
    return [hit.path for hit in find(query, user)]


def test_search_memory_in_the_order_of_bm25(ana):
    """Spec 001, 搜尋記憶: relevant memories are returned in the order of their BM25 scores."""
    (ana / "MEMORY.md").write_text("# Memory\n\n## Tea\n\n- Ana drinks green tea every morning in the garden\n")
    (ana / "daily" / "2026-03-04.md").write_text("- green tea\n")
    (ana / "daily" / "2026-03-05.md").write_text("- the boat is green\n" + "- nothing of the kind\n" * 3)
    hits = find("green tea")
    assert [hit.path for hit in hits] == ["daily/2026-03-04.md", "MEMORY.md", "daily/2026-03-05.md"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 < hit.score <= 1 and hit.score == hit.bm25_score and hit.vector_score is None for hit in hits)
    assert (hits[1].first_line, hits[1].last_line, hits[1].heading) == (5, 5, "Memory > Tea")
    assert len(find("green tea", limit=1)) == 1


def test_chinese_word_of_two_characters_inside_a_sentence(ana):
    (ana / "MEMORY.md").write_text("- 她每天早上喝綠茶配餅乾\n\n一些別的內容\n", encoding="utf-8")
    hits = find("綠茶")
    assert [(hit.first_line, hit.last_line) for hit in hits] == [(1, 3)] or hits[0].first_line == 1
    assert not find("紅茶")
    assert find("绿茶") == hits


@pytest.mark.parametrize(
    "query", ['tea" OR "rice', "tea*", "NEAR(tea rice)", "text:tea", "tea AND NOT x", '"', "-", "'; --", "\0"]
)
def test_operators_of_the_engine_are_words_like_others(ana, query):
    (ana / "MEMORY.md").write_text("- tea\n")
    assert {hit.path for hit in find(query)} <= {"MEMORY.md"}


def test_users_are_isolated(ana, notes_dir):
    (ana / "MEMORY.md").write_text("- ana likes tea\n")
    ben = notes_dir / "users" / "ben"
    ben.mkdir()
    (ben / "MEMORY.md").write_text("- ben likes tea\n")
    assert [hit.text for hit in find("tea", "ben")] == ["- ben likes tea"]
    assert [hit.text for hit in find("tea")] == ["- ana likes tea"]
    assert place_of("ana").database != place_of("ben").database


def test_default_user_does_not_see_the_notes_of_others(ana, notes_dir, settings):
    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user="operator")
    (ana / "MEMORY.md").write_text("- tea\n")
    (notes_dir / "MEMORY.md").write_text("- green tea\n")
    assert [hit.text for hit in find("tea", None)] == ["- green tea"]


def test_user_without_notes_gets_no_index(notes_dir):
    assert find("tea", "nobody") == ()
    index_refresh("nobody")
    assert not place_of("nobody").database.exists()


def write_again(path, text):
    """Write in place, with the times that the file had before: only the kernel knows."""
    status = path.stat()
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_edit_is_found_at_once_and_what_it_replaced_is_not(ana):
    main = ana / "MEMORY.md"
    main.write_text("- tea\n")
    assert paths("tea")
    former = "tea"
    for word in ("rice", "corn", "bean", "salt", "fish", "soup", "cake", "beer", "wine", "milk"):
        write_again(main, f"- {word}\n")
        assert paths(word) == ["MEMORY.md"]
        assert not paths(former)
        former = word


def test_renamed_deleted_and_new_files_are_found_where_they_are(ana):
    main = ana / "MEMORY.md"
    main.write_text("- tea\n")
    assert paths("tea") == ["MEMORY.md"]
    main.rename(ana / "old.md")
    assert paths("tea") == ["old.md"]
    (ana / "below").mkdir()
    (ana / "below" / "deep.md").write_text("- rice\n")
    assert paths("rice") == ["below/deep.md"]
    (ana / "below").rename(ana / "other")
    assert paths("rice") == ["other/deep.md"]
    (ana / "old.md").unlink()
    assert not paths("tea")
    (ana / "other" / "deep.md").replace(ana / "MEMORY.md")
    assert paths("rice") == ["MEMORY.md"]


def test_folder_that_is_replaced_as_a_whole(ana):
    (ana / "MEMORY.md").write_text("- tea\n")
    assert paths("tea")
    ana.rename(ana.with_name("aside"))
    assert not paths("tea")
    ana.mkdir()
    (ana / "MEMORY.md").write_text("- rice\n")
    assert (paths("tea"), paths("rice")) == ([], ["MEMORY.md"])


@pytest.mark.parametrize("reason", ["network", "limit"])
def test_everything_is_compared_where_the_kernel_reports_nothing(ana, monkeypatch, reason):
    def refuse(*_arguments, **_named):
        raise events.EventsUnavailableError(reason)

    monkeypatch.setattr(events, "require_local", refuse)
    main = ana / "MEMORY.md"
    main.write_text("- tea\n")
    assert paths("tea")
    assert not folder_events().is_watched(place_of("ana").folder)
    for word in ("rice", "bean", "corn"):
        main.write_text(f"- {word}\n")
        assert paths(word) == ["MEMORY.md"]
    main.unlink()
    assert not paths("corn")


def test_hit_whose_file_changed_without_notice_is_taken_in_again(ana, monkeypatch):
    main = ana / "MEMORY.md"
    main.write_text("- tea\n")
    assert paths("tea")
    monkeypatch.setattr(events.FolderEvents, "take", lambda *_: set())
    main.write_text("- rice and tea\n")
    assert [hit.text for hit in find("tea")] == ["- rice and tea"]
    main.unlink()
    assert find("tea") == ()


def test_only_what_changed_is_read_again(ana, monkeypatch):
    for number in range(30):
        (ana / f"{number}.md").write_text(f"- word{number}\n")
    index_refresh("ana")
    time.sleep(disk.SETTLED_NS / 1e9 + 0.1)
    index_of(place_of("ana")).refresh(everything=True)  # what was new at the first look has settled
    read = []
    monkeypatch.setattr(
        "apps.notes.index.refresh.read_file", lambda folder, path: read.append(path) or disk.read_file(folder, path)
    )
    index_of(place_of("ana")).refresh(everything=True)
    assert read == []
    (ana / "3.md").write_text("- another\n")
    assert paths("another") == ["3.md"]
    assert read == ["3.md"]


def test_unchanged_chunks_keep_their_rows(ana):
    main = ana / "MEMORY.md"
    long = [f"- {number} " + "word " * 60 for number in range(5)]
    main.write_text("\n".join(long))
    index_refresh("ana")
    before = texts()
    main.write_text("\n".join(["# New", "", "- first " + "x " * 130]) + "\n")
    main.write_text("\n".join([*long[:2], "- changed " + "y " * 130, *long[3:]]))
    index_refresh("ana")
    after = texts()
    assert len(set(before) & set(after)) == 4
    assert len(after) == 5


def texts():
    with index_of(place_of("ana")).database.connection() as connection:
        return [number for (number,) in connection.execute("SELECT id FROM texts ORDER BY id")]


def test_deleted_index_is_made_again(ana):
    (ana / "MEMORY.md").write_text("- tea\n")
    assert paths("tea")
    for path in place_of("ana").files:
        path.unlink(missing_ok=True)
    assert paths("tea") == ["MEMORY.md"]


@pytest.mark.parametrize("damage", ["text", "truncated", "empty", "another version", "no tables", "page"])
@pytest.mark.parametrize("is_open", [False, True], ids=["before the start", "while it is open"])
def test_damaged_index_is_made_again_with_a_warning(ana, damage, is_open, caplog):
    for number in range(300):
        (ana / f"{number}.md").write_text(f"- tea {number} " + "word " * 50)
    assert paths("tea")
    index = place_of("ana").database
    if not is_open:
        handles.indexes_close()
    data = index.read_bytes()
    if damage == "text":
        index.write_text("this is no database")
    elif damage == "truncated":
        with index.open("r+b") as file:
            file.truncate(len(data) // 2 // 4096 * 4096)
    elif damage == "empty":
        index.write_bytes(b"")
    elif damage == "page":
        with index.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (len(data) - 4096))
    else:
        import apsw

        with apsw.Connection(str(index)) as connection:
            connection.execute("DROP TABLE chunks" if damage == "no tables" else f"PRAGMA user_version = {VERSION + 1}")
        connection.close()
    handles.indexes_close()
    assert paths("tea 7")[0] == "7.md"
    assert len(find("tea", limit=50)) == 50
    if damage != "empty" and not is_open:  # what is open is written out when it is closed
        assert "made again from the files" in caplog.text


def test_links_huge_unreadable_and_odd_files_are_skipped_and_counted(ana, tmp_path):
    (ana / "MEMORY.md").write_text("- tea\n")
    outside = tmp_path / "outside.md"
    outside.write_text("- secret tea\n")
    (ana / "link.md").symlink_to(outside)
    (ana / "away").symlink_to(tmp_path)
    (ana / "second.md").hardlink_to(outside)
    with (ana / "huge.md").open("wb") as file:
        file.truncate(disk.MAX_BYTES + 1)
    os.mkfifo(ana / "pipe.md")
    (ana / "dir.md").mkdir()
    (ana / "CON.md").write_text("- tea\n")
    (ana / os.fsdecode(b"caf\xe9.md")).write_text("- tea\n")
    (ana / ".hidden.md").write_text("- tea\n")
    (ana / "bytes.md").write_bytes(b"\xff\xfe tea \x00\r\n")
    if os.geteuid() != 0:
        (ana / "closed.md").write_text("- tea\n")
        (ana / "closed.md").chmod(0)
    assert sorted(paths("tea")) == ["MEMORY.md", "bytes.md"]
    skipped = dict(index_status(ACCESS, "ana").skipped)
    skipped.pop("no_permission", None)
    assert skipped == {"symbolic_link": 1, "hard_link": 1, "too_large": 1, "not_a_file": 2, "name": 2}
    assert index_status(ACCESS, "ana").files == 2
    (ana / "link.md").unlink()
    (ana / "link.md").write_text("- green tea\n")
    (ana / "second.md").unlink()
    shutil.copyfile(outside, ana / "second.md")
    assert paths("green") == ["link.md"]
    assert paths("secret") == ["second.md"]


def test_forgetting_deletes_the_index_and_no_search_brings_it_back(ana):
    from apps.notes.personal.stores import NoteStore

    (ana / "MEMORY.md").write_text("- tea\n")
    assert paths("tea")
    assert "index of notes" in list(NoteStore().find("ana"))
    list(NoteStore().forget("ana"))
    assert list(NoteStore().find("ana")) == []
    assert find("tea") == ()
    assert not [path for path in place_of("ana").database.parent.iterdir() if path.name.startswith("ana")]


def test_index_alone_can_be_forgotten_and_rebuilt(ana):
    (ana / "MEMORY.md").write_text("- tea\n")
    index_refresh("ana")
    index_forget("ana")
    assert not place_of("ana").database.exists()
    index_rebuild("ana")
    assert place_of("ana").database.exists()
    assert paths("tea") == ["MEMORY.md"]


def test_search_of_a_key_bound_to_another_user_is_not_found(ana):
    from tests.api import api_for

    (ana / "MEMORY.md").write_text("- tea\n")
    assert api_for(Scope("ben")).get("/api/memory/search?q=tea&user_id=ana").status_code == 404
    assert folder_name("ana") == "ana"


def test_folder_from_before_a_user_was_the_default_one_does_not_take_its_index(ana, notes_dir, settings):
    """Both would have the same database: what is in the former folder are no notes of anyone any more."""
    (ana / "MEMORY.md").write_text("- an old boat\n")
    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user="ana")
    (notes_dir / "MEMORY.md").write_text("- a new boat\n")
    assert place_of_path(ana / "MEMORY.md") is None
    assert place_of_path(notes_dir / "users" / "ben" / "MEMORY.md") == place_of("ben")
    assert place_of_path(notes_dir / "MEMORY.md") == place_of("ana")
    assert [hit.text for hit in find("boat")] == ["- a new boat"]
