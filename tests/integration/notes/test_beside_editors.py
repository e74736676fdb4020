"""Notes whose files people and programs write as well: nothing is lost, and nothing is there twice."""

import os
import time

import pytest

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.errors import ConflictError, InvalidInputError, MemoryHubError, UnavailableError
from apps.notes.domain.places import MAIN, parse_place
from apps.notes.files import folder as folders
from apps.notes.files import lock
from apps.notes.files.changes import note_append, note_edit, note_read
from apps.notes.files.exchange import ExchangeUnsupportedError
from apps.notes.files.folder import MAX_BYTES
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import text_of
from apps.notes.models import ChangeKind, NoteVersion
from apps.notes.services import notes_look, notes_prepare

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder():
    found = folder_of("ana")
    found.create()
    return found


@pytest.fixture
def main(folder):
    return folder.path / "MEMORY.md"


def append(entry, **options):
    return note_append("ana", MAIN, entry, author="test", **options)


def kinds():
    return list(NoteVersion.objects.order_by("number").values_list("kind", flat=True))


def save_by_rename(path, text):
    """Save as most editors do: a new file takes the name."""
    aside = path.with_suffix(".tmp")
    aside.write_text(text)
    aside.rename(path)


def test_directory_initialisation(notes_dir):
    """Spec 001: a start creates the folders where they are missing."""
    notes_prepare()
    notes_prepare()
    assert (notes_dir / "daily").is_dir()


def test_notes_of_a_user_have_one_writer_at_a_time(monkeypatch):
    monkeypatch.setattr(lock, "WAIT_SECONDS", 0.0)
    with notes_lock("ana"), notes_lock("ben"), pytest.raises(UnavailableError), notes_lock("ana"):
        pass
    with notes_lock("ana"):
        pass


def test_what_is_written_on_the_disk_becomes_a_version(main):
    append("tea")
    main.write_text("- tea\n- mine\n")
    assert note_read("ana", MAIN).text == b"- tea\n- mine\n"
    assert kinds() == [ChangeKind.APPEND, ChangeKind.FOUND]
    assert [text_of(each) for each in NoteVersion.objects.order_by("number")] == [b"- tea\n", b"- tea\n- mine\n"]
    note_read("ana", MAIN)
    assert len(kinds()) == 2, "looking changes nothing"


def test_entries_that_an_editor_had_not_seen_are_added_again(main):
    append("tea")
    opened = main.read_text()
    append("rice")
    append("plums")
    save_by_rename(main, "# Mine\n" + opened)
    assert note_read("ana", MAIN).text == b"# Mine\n- tea\n- rice\n- plums\n"


def test_entry_that_is_taken_out_twice_stays_out(main):
    clock = DeterministicClock(1_780_000_000_000)
    append("tea", clock=clock)
    main.write_text("")
    assert note_read("ana", MAIN, clock=clock).text == b"- tea\n"
    main.write_text("")
    assert note_read("ana", MAIN, clock=clock).text == b"- tea\n", "at once: not seen yet"
    clock.advance(11_000)
    main.write_text("")
    assert note_read("ana", MAIN, clock=clock).text == b""


def test_entry_that_was_taken_out_before_a_later_one_stays_out(main):
    append("tea")
    append("rice")
    main.write_text("- rice\n")
    assert note_read("ana", MAIN).text == b"- rice\n"


def test_entry_that_was_reworded_is_not_added_again(main):
    clock = DeterministicClock(1_780_000_000_000)
    append("buy milk for Ana", clock=clock)
    clock.advance(5_000)
    main.write_text("- buy oat milk for Ana\n")
    assert note_read("ana", MAIN, clock=clock).text == b"- buy oat milk for Ana\n"


def test_line_like_an_entry_of_this_moment_does_not_take_its_place(main):
    """An editor that had not seen the entry saves, and a shell goes on counting: nobody has reworded anything."""
    append("tea")
    opened = main.read_text()
    append("shell 3110")
    save_by_rename(main, "mine\n" + opened)
    append_line(main, "shell 3111")
    assert sorted(note_read("ana", MAIN).text.splitlines()) == [b"- shell 3110", b"- tea", b"mine", b"shell 3111"]


@pytest.mark.parametrize(
    ("entry", "following"), [("shell 4 {}", "shell 4 {}"), ("07:{}0 - 12{}/80", "- 07:{}0 - 12{}/80")]
)
def test_next_line_of_a_series_is_no_rewording_of_the_last_one(main, entry, following):
    """However late the file is looked at: a log goes on, and its editor had not seen the last line."""
    clock = DeterministicClock(1_780_000_000_000)
    append(entry.format(1, 1), clock=clock)
    append(entry.format(2, 2), clock=clock)
    opened = main.read_text()
    append(entry.format(3, 3), clock=clock)
    clock.advance(60_000)
    save_by_rename(main, "mine\n" + opened)
    append_line(main, following.format(4, 4))
    text = note_read("ana", MAIN, clock=clock).text.decode()
    assert [text.count(entry.format(n, n)) for n in (1, 2, 3, 4)] == [1, 1, 1, 1]


def test_number_that_is_corrected_is_a_rewording(main):
    clock = DeterministicClock(1_780_000_000_000)
    append("Ana has a cat", clock=clock)
    append("The bus leaves at 7:40", clock=clock)
    clock.advance(60_000)
    corrected = "- Ana has a cat\n- The bus leaves at 7:50\n"
    save_by_rename(main, corrected)
    assert note_read("ana", MAIN, clock=clock).text.decode() == corrected


@pytest.mark.parametrize("line", ["- Ana likes black tea.", "* Ana likes green tea."])
def test_line_like_the_last_entry_does_not_hide_that_the_editor_was_stale(main, line):
    append("Ana has a cat")
    opened = main.read_text()
    for entry in ("Ben rows on Sundays", "The boat is red", "Ana likes green tea."):
        append(entry)
    save_by_rename(main, f"{opened}{line}\n")
    text = note_read("ana", MAIN).text.decode()
    assert text.count("Ben rows on Sundays") == text.count("The boat is red") == text.count("Ana likes green tea.") == 1
    assert line in text


def test_entries_that_were_all_reworded_are_not_added_again(main):
    clock = DeterministicClock(1_780_000_000_000)
    for entry in ("Ana has a cat", "Ben rows on Sundays", "The boat in the harbour is red"):
        append(entry, clock=clock)
    clock.advance(5_000)
    reworded = "- Ana has a grey cat\n- Ben often rows on Sundays\n- The boat in the harbour is blue\n"
    save_by_rename(main, reworded)
    assert note_read("ana", MAIN, clock=clock).text.decode() == reworded


@pytest.mark.parametrize(("bullet", "lines"), [("* ", 5), ("* ", 60), ("  - ", 60), ("1. ", 60)])
def test_entries_whose_bullets_a_formatter_changes_are_not_added_again(main, bullet, lines):
    main.write_text("".join(f"- fact {number} of a long list\n" for number in range(lines)))
    for entry in ("tea", "rice\nand beans", "the boat is red"):
        append(entry)
    formatted = main.read_text().replace("- ", bullet)
    save_by_rename(main, formatted)
    assert note_read("ana", MAIN).text.decode() == formatted


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_in_utf_16_is_not_added_to(main, encoding):
    append("tea")
    wide = "- mine\n".encode(encoding)
    main.write_bytes(wide)
    assert note_read("ana", MAIN).text == wide
    with pytest.raises(ConflictError) as refused:
        append("rice")
    assert refused.value.code == "not_utf8"
    assert main.read_bytes() == wide


def test_entry_that_was_edited_away_through_the_hub_stays_out(main):
    append("tea")
    note_edit("ana", MAIN, "# Mine\n", base=note_read("ana", MAIN).sha256, author="test")
    main.write_text("# Mine\nmore\n")
    assert note_read("ana", MAIN).text == b"# Mine\nmore\n"


def test_old_entry_may_be_taken_out():
    clock = DeterministicClock(1_780_000_000_000)
    append("tea", clock=clock)
    clock.advance(16 * 60_000)
    main = folder_of("ana").path / "MEMORY.md"
    main.write_text("")
    assert note_read("ana", MAIN, clock=clock).text == b""


def at(step, action):
    """A step at which something else happens, once."""
    waiting = [action]

    def act(name):
        if name == step and waiting:
            waiting.pop()()

    return act


@pytest.mark.parametrize("step", ["record", "replace", "write", "sync", "exchange"])
def test_save_by_rename_in_the_moment_of_an_append_is_kept(main, step):
    append("tea")
    append("rice", step=at(step, lambda: save_by_rename(main, "# Mine\n- tea\n")))
    assert note_read("ana", MAIN).text == b"# Mine\n- tea\n- rice\n"


@pytest.mark.parametrize("step", ["record", "replace", "write", "sync", "exchange"])
def test_save_in_the_moment_of_an_edit_wins_and_the_edit_is_kept(main, step):
    append("tea")
    base = note_read("ana", MAIN).sha256
    save = at(step, lambda: save_by_rename(main, "mine\n- tea\n"))
    with pytest.raises(ConflictError) as refused:
        note_edit("ana", MAIN, "theirs", base=base, author="test", step=save)
    assert refused.value.current == "mine\n- tea\n"
    assert main.read_text() == "mine\n- tea\n"
    kept = NoteVersion.objects.get(kind=ChangeKind.KEPT)
    assert text_of(kept) == b"theirs"


@pytest.mark.parametrize("step", ["exchange", "sync directory", "confirmed"])
def test_editor_that_writes_in_place_across_an_append_is_not_lost(main, step):
    append("tea")
    editor = main.open("r+")  # has read "- tea", and writes when the file has been exchanged already

    def save():
        editor.write("# Mine\n- tea\n")
        editor.flush()

    append("rice", step=at(step, save))
    editor.close()
    time.sleep(folders.DONE_SECONDS + 0.1)
    assert note_read("ana", MAIN).text == b"# Mine\n- tea\n- rice\n"


def test_hidden_files_are_gone_after_a_while(main, monkeypatch):
    append("tea")
    append("rice")
    assert [each.name for each in main.parent.iterdir() if each.name != "MEMORY.md"] != []
    monkeypatch.setattr("apps.notes.files.folder.SETTLE_SECONDS", 0.0)
    assert notes_look() == 1
    assert [each.name for each in main.parent.iterdir()] == ["MEMORY.md"]
    monkeypatch.setattr("apps.notes.files.watch._RECENT_SECONDS", -1.0)
    assert notes_look() == 0


def test_changes_on_the_disk_are_recorded_without_a_call(main):
    append("tea")
    future = time.time() + 5
    main.write_text("- tea\n- mine\n")
    os.utime(main, (future, future))
    other = folder_of("Ben").path
    other.mkdir(parents=True)
    (other / "MEMORY.md").write_text("by hand")
    assert notes_look() == 2
    assert NoteVersion.objects.get(user_id="Ben").kind == ChangeKind.FOUND


def test_deleted_file_is_a_version_and_can_be_restored(main):
    append("tea")
    main.unlink()
    assert note_read("ana", MAIN).text is None
    assert kinds() == [ChangeKind.APPEND, ChangeKind.FOUND]
    append("rice")
    assert main.read_text() == "- rice\n"


def test_symbolic_link_is_not_followed(main, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    main.symlink_to(outside)
    for call in (lambda: append("x"), lambda: note_read("ana", MAIN)):
        with pytest.raises(ConflictError) as refused:
            call()
        assert refused.value.code == "not_a_file"
    assert outside.read_text() == "secret"
    assert main.is_symlink()


def test_folder_that_is_a_symbolic_link_is_not_followed(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (folder.path / "daily").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConflictError):
        note_append("ana", parse_place("daily/2026-03-04.md"), "x", author="test")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert folder.places() == []


def test_file_that_was_replaced_by_a_folder_is_an_error(main):
    main.mkdir()
    with pytest.raises(ConflictError) as refused:
        append("x")
    assert refused.value.code == "not_a_file"


def test_pipe_in_the_place_of_a_file_does_not_block(main):
    os.mkfifo(main)
    with pytest.raises(MemoryHubError):
        append("x")


def test_huge_file_is_an_error_and_stays(main):
    with main.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InvalidInputError) as refused:
        append("x")
    assert refused.value.code == "too_large"
    assert main.stat().st_size == MAX_BYTES + 1


def test_permissions_of_a_file_stay(main):
    append("tea")
    assert main.stat().st_mode & 0o777 == 0o600
    main.chmod(0o644)
    append("rice")
    assert main.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files to others")
def test_owner_of_a_file_stays(main):
    append("tea")
    os.chown(main, 1234, 2345)
    append("rice")
    assert (main.stat().st_uid, main.stat().st_gid) == (1234, 2345)


def test_file_that_no_one_may_write_is_left_alone(main):
    append("tea")
    main.chmod(0o444)
    with pytest.raises(ConflictError) as refused:
        append("rice")
    assert refused.value.code == "no_permission"
    assert main.read_text() == "- tea\n"
    assert [path.name for path in main.parent.iterdir() if path.name.endswith((".new", ".part"))] == []


def test_exchange_in_steps_leaves_no_unknown_file(main, monkeypatch):
    append("tea")

    def unsupported(*_):
        raise ExchangeUnsupportedError

    monkeypatch.setattr(folders, "exchange", unsupported)
    rename = os.rename

    def cut_off(source, target, **options):
        if target == main.name:
            raise CutOffError
        rename(source, target, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", cut_off)
        with pytest.raises(CutOffError):
            append("rice")
    monkeypatch.setattr(folders, "SETTLE_SECONDS", -1.0)
    append("rice")
    for _ in range(3):
        assert note_read("ana", MAIN).text == b"- tea\n- rice\n"
    assert [path.name for path in main.parent.iterdir()] == [main.name]


class CutOffError(Exception):
    """The process is gone."""


@pytest.mark.parametrize("cut", ["sync directory", "keep displaced", "done"])
def test_save_in_the_moment_of_an_append_that_is_cut_off_is_not_lost(main, cut):
    append("tea")
    saved = []

    def step(name):
        if name == "exchange" and not saved:
            saved.append(save_by_rename(main, "# Mine\n- tea\n"))
        if name == cut:
            raise CutOffError

    with pytest.raises(CutOffError):
        append("rice", operation="turn-7", step=step)
    time.sleep(folders.DONE_SECONDS + 0.1)
    append("rice", operation="turn-7")
    assert main.read_text() == "# Mine\n- tea\n- rice\n"


def test_entries_are_added_again_after_a_failure(main, monkeypatch):
    append("tea")
    append("rice")
    append("plums")
    save_by_rename(main, "- tea\n")

    def full(*arguments, **options):
        raise CutOffError

    with monkeypatch.context() as patch:
        patch.setattr(folders.Folder, "replace", full)
        with pytest.raises(CutOffError):
            note_read("ana", MAIN)
    assert note_read("ana", MAIN).text == b"- tea\n- rice\n- plums\n"


def test_entries_that_are_taken_out_one_after_the_other_stay_out(main):
    clock = DeterministicClock(1_780_000_000_000)
    for entry in ("tea", "rice", "plums"):
        append(entry, clock=clock)
    for text in ("- rice\n- plums\n", "- plums\n"):
        clock.advance(20_000)
        main.write_text(text)
        assert note_read("ana", MAIN, clock=clock).text == text.encode()


def test_huge_save_in_the_moment_of_an_append_stays_where_it_is(main):
    append("tea")
    with pytest.raises(InvalidInputError):
        append("rice", step=at("exchange", lambda: main.write_bytes(b"x" * (MAX_BYTES + 1))))
    assert main.stat().st_size == MAX_BYTES + 1
    save_by_rename(main, "- tea\n")
    assert note_read("ana", MAIN).text == b"- tea\n"


def test_unreadable_hidden_file_is_in_nobodys_way(main):
    append("tea")
    with main.with_name(f".MEMORY.md.{'0' * 64}.00000000.displaced").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    append("rice")
    assert main.read_text() == "- tea\n- rice\n"


def test_text_that_was_cut_off_while_it_was_written_is_never_the_note(main):
    """A kill or a power failure leaves a part of a text, or none of it, in a hidden file."""
    append("tea")
    main.write_text("# Mine\n- tea\n")
    note_read("ana", MAIN)

    def cut(name):
        if name == "sync":
            (written,) = main.parent.glob(".*.new")
            written.write_bytes(written.read_bytes()[:3])
            os.utime(written, (0, 0))
            raise CutOffError

    with pytest.raises(CutOffError):
        append("rice", step=cut)
    assert note_read("ana", MAIN).text == b"# Mine\n- tea\n"
    assert list(main.parent.glob(".*.new")) == []


def test_append_that_was_cut_off_before_the_exchange_is_not_taken_for_an_editors(main, monkeypatch):
    """Also where other appends come before it is repeated."""
    append("tea")
    with pytest.raises(CutOffError):
        append("rice", operation="turn-7", step=at("exchange", cut_off))
    append("plums")
    monkeypatch.setattr("apps.notes.files.folder.DONE_SECONDS", 0.0)
    note_read("ana", MAIN)
    append("rice", operation="turn-7")
    assert main.read_text() == "- tea\n- plums\n- rice\n"


def cut_off():
    raise CutOffError


def test_two_editors_that_opened_the_file_one_after_the_other_lose_nothing(main):
    append("tea")
    append("rice")
    save_by_rename(main, "- tea\n")
    assert note_read("ana", MAIN).text == b"- tea\n- rice\n"
    save_by_rename(main, "mine\n")
    assert note_read("ana", MAIN).text == b"mine\n- tea\n- rice\n"


def test_save_to_a_file_that_was_replaced_twice_is_a_version(main, monkeypatch):
    append("tea")
    with main.open("r+b", buffering=0) as opened:
        append("milk")
        save_by_rename(main, "MINE\n- tea\n")
        note_read("ana", MAIN)
        saved = b"LATER\nMINE\n- tea\n"
        opened.truncate()
        opened.write(saved)
    monkeypatch.setattr(folders, "DONE_SECONDS", 0.0)
    lines = note_read("ana", MAIN).text.splitlines()
    assert {b"LATER", b"MINE", b"- tea", b"- milk"} <= set(lines)
    assert saved in [text_of(version) for version in NoteVersion.objects.all()]


def test_save_in_place_whose_return_is_cut_off_keeps_the_entries_since(main, monkeypatch):
    append("tea")
    editor = main.open("r+")
    append("rice")
    editor.write("# Mine\n- tea\n")
    editor.close()
    monkeypatch.setattr("apps.notes.files.folder.DONE_SECONDS", 0.0)
    for _ in range(2):
        with pytest.raises(CutOffError):
            append("plums", step=at("record", cut_off))
    assert note_read("ana", MAIN).text == b"# Mine\n- tea\n- rice\n"


def append_line(path, line):
    with path.open("a") as file:
        file.write(f"{line}\n")


@pytest.mark.parametrize("step", ["record", "replace", "write", "sync", "exchange"])
def test_line_appended_in_the_moment_of_a_change_stays(main, step):
    """Spec 001, MEMORY.md 持久化: an outside `echo >>` and the change of the hub are both there, once."""
    append("tea")
    append("rice", step=at(step, lambda: append_line(main, "from outside")))
    assert sorted(note_read("ana", MAIN).text.decode().splitlines()) == ["- rice", "- tea", "from outside"]


def test_line_appended_to_a_file_that_was_replaced_twice_stays(main, monkeypatch):
    """A shell opens the file, the hub replaces it, somebody else saves, and only then the shell writes."""
    append("tea")
    with main.open("a") as shell:
        append("rice")
        append_line(main, "by another")
        note_read("ana", MAIN)
        append("plums")
        shell.write("late\n")
    monkeypatch.setattr(folders, "DONE_SECONDS", 0.0)
    text = note_read("ana", MAIN).text.decode()
    assert sorted(text.splitlines()) == ["- plums", "- rice", "- tea", "by another", "late"]
    assert note_read("ana", MAIN).text.decode() == text


def test_two_saves_of_the_same_moment_both_stay(main, monkeypatch):
    """Of an editor that writes in place, after another one has saved: nothing is kept aside as a version only."""
    main.write_text("# A\n- tea\n- rice\n")
    note_read("ana", MAIN)
    with main.open("r+") as editor:
        append("plums")
        save_by_rename(main, main.read_text().replace("# A\n", "# A\n- by another\n"))
        note_read("ana", MAIN)
        editor.write("# A\n- tea with milk\n- rice\n")
    monkeypatch.setattr(folders, "DONE_SECONDS", 0.0)
    text = note_read("ana", MAIN).text.decode()
    assert text == "# A\n- by another\n- tea with milk\n- rice\n- plums\n" or set(text.splitlines()) == {
        "# A", "- by another", "- tea", "- tea with milk", "- rice", "- plums"
    }  # fmt: skip


def test_writer_that_never_rests_starves_nobody(main, monkeypatch):
    """Whoever appends in each moment of a change gets its lines in, and the change is made at once."""
    monkeypatch.setattr(folders, "DONE_SECONDS", 0.0)
    append("tea")
    count = 0

    def act(name):
        nonlocal count
        if name in {"exchange", "record"} and count < 60:
            count += 1
            append_line(main, f"line {count}")

    began = time.monotonic()
    append("rice", step=act)
    assert time.monotonic() - began < 2
    lines = note_read("ana", MAIN).text.decode().splitlines()
    assert sorted(lines) == sorted(["- rice", "- tea", *(f"line {number}" for number in range(1, count + 1))])


def test_file_that_a_program_keeps_open_is_followed(main, monkeypatch):
    monkeypatch.setattr(folders, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(folders, "DONE_SECONDS", 0.0)
    append("tea")
    with main.open("a") as program:
        append("rice")
        time.sleep(0.05)
        note_read("ana", MAIN)
        program.write("first\n")
        program.flush()
        note_read("ana", MAIN)
        append("plums")
        program.write("second\n")
    text = note_read("ana", MAIN).text.decode()
    assert sorted(text.splitlines()) == ["- plums", "- rice", "- tea", "first", "second"]
    time.sleep(0.05)
    note_read("ana", MAIN)
    assert [path.name for path in main.parent.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("lines", [["from outside"], ["one", "two", "three"]])
def test_line_that_an_editor_could_not_see_for_a_moment_stays(main, lines):
    """An editor reads between the exchange and the moment in which the lines of another are back, and saves later."""
    append("tea")
    read = []

    def step(name):
        if name == "exchange" and not read:
            for line in lines:
                append_line(main, line)
        if name == "sync directory" and not read:
            read.append(main.read_text())

    append("rice", step=step)
    assert all(line not in read[0] for line in lines)
    save_by_rename(main, "mine\n" + read[0])
    found = note_read("ana", MAIN).text.decode()
    assert sorted(found.splitlines()) == sorted(["- rice", "- tea", "mine", *lines])


def test_line_that_an_editor_had_read_before_its_file_was_exchanged_is_there_once(main):
    """A shell appends and an editor reads before an exchange; the editor saves before the line is brought back."""
    append("tea")
    read = []

    def step(name):
        if name == "exchange" and not read:
            append_line(main, "from outside")
            read.append(main.read_text())
        if name == "done" and len(read) == 1:
            read.append(save_by_rename(main, "mine\n" + read[0]))

    append("rice", step=step)
    found = note_read("ana", MAIN).text.decode()
    assert sorted(found.splitlines()) == ["- rice", "- tea", "from outside", "mine"]
