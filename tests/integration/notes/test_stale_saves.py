"""Editors that save over what they have not seen: a moment of two editors, or of one and the hub, loses nothing."""

import time

import pytest

from apps.core.domain.clock import DeterministicClock
from apps.notes.domain.places import MAIN
from apps.notes.files import folder as folders
from apps.notes.files.changes import note_append, note_read
from apps.notes.files.desk import WRITE_STEPS
from apps.notes.files.folder import REPLACE_STEPS
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import text_of
from apps.notes.models import ChangeKind, NoteVersion

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock():
    return DeterministicClock(1_780_000_000_000)


@pytest.fixture
def main():
    found = folder_of("ana")
    found.create()
    return found.path / "MEMORY.md"


def append(entry, **options):
    return note_append("ana", MAIN, entry, author="test", **options)


def save_by_rename(path, text):
    aside = path.with_suffix(".tmp")
    aside.write_text(text)
    aside.rename(path)


def at(step, action):
    """A step at which something else happens, once."""
    waiting = [action]

    def act(name):
        if name == step and waiting:
            waiting.pop()()

    return act


class CutOffError(Exception):
    """The process is gone."""


def test_editor_that_has_not_seen_many_entries_overwrites_none(main, monkeypatch):
    monkeypatch.setattr("apps.notes.files.overwritten._PAGE", 10)
    append("tea")
    opened = main.read_text()
    for number in range(25):
        append(f"entry {number}")
    steps = []
    save_by_rename(main, opened + "mine\n")
    text = "- tea\nmine\n" + "".join(f"- entry {number}\n" for number in range(25))
    append("pears", step=steps.append)
    text += "- pears\n"
    assert main.read_text() == text
    assert steps.count("exchange") == 2, "all that was lost in one step, and the new one"
    versions = list(NoteVersion.objects.order_by("number"))
    assert [each.again for each in versions[-27:]] == [False] + [True] * 25 + [False]
    for version in versions[-3:]:
        assert text_of(version) == text.encode()[: version.size]


def test_entries_come_back_under_their_headings(main):
    main.write_text("# Mine\n\n## Work\n\n- boat\n")
    note_read("ana", MAIN)
    opened = main.read_text()
    append("tea", category="Food")
    append("oars", category="Work")
    append("rice\nand beans", category="Food")
    whole = main.read_text()
    save_by_rename(main, opened.replace("boat", "red boat"))
    assert note_read("ana", MAIN).text.decode() == whole.replace("boat", "red boat")
    versions = NoteVersion.objects.order_by("-number")[:3]
    assert text_of(versions[0]).decode() == whole.replace("boat", "red boat")
    assert [each.again for each in versions] == [True, True, True]


def test_entries_come_back_under_headings_that_their_editor_has_moved(main):
    append("tea", category="Food")
    append("boat", category="Work")
    opened = main.read_text()
    append("rice", category="Food")
    save_by_rename(main, "## Work\n- boat\n\n## Food\n- tea\n\nThe end.\n")
    text = note_read("ana", MAIN).text.decode()
    assert text == "## Work\n- boat\n\n## Food\n- tea\n\nThe end.\n\n- rice\n"
    save_by_rename(main, opened)
    assert note_read("ana", MAIN).text.decode() == "## Food\n\n- tea\n- rice\n\n## Work\n\n- boat\n"


@pytest.mark.parametrize("text", ["mine\n", "", "\n"])
def test_file_that_is_emptied_while_others_save_it_too_loses_nothing(main, clock, text):
    """One editor reads the file when another one has emptied it to write it, and saves that: it has seen no entry.

    Also no entry that was added again so long ago that an editor must have read it.
    """
    for entry in ("tea", "rice"):
        append(entry, clock=clock)
    save_by_rename(main, "# Mine\n")
    assert note_read("ana", MAIN, clock=clock).text == b"# Mine\n- tea\n- rice\n"
    clock.advance(20_000)
    append("plums", clock=clock)
    save_by_rename(main, "# Yours\n# Mine\n- tea\n- rice\n- plums\n")
    note_read("ana", MAIN, clock=clock)
    clock.advance(400)
    main.write_text(text)
    entries = "- tea\n- rice\n- plums\n"
    assert note_read("ana", MAIN, clock=clock).text.decode() == text + entries


def test_file_that_is_emptied_on_purpose_stays_empty(main, clock):
    """Where no one else saves it, and its entries came back before."""
    append("tea", clock=clock)
    main.write_text("mine\n")
    assert note_read("ana", MAIN, clock=clock).text == b"mine\n- tea\n"
    clock.advance(11_000)
    main.write_text("yours\n")
    assert note_read("ana", MAIN, clock=clock).text == b"yours\n"


def test_last_entry_is_taken_out_on_purpose_while_others_save(main, clock):
    for entry in ("tea", "rice"):
        append(entry, clock=clock)
    main.write_text("")
    note_read("ana", MAIN, clock=clock)
    clock.advance(11_000)
    for text in ("mine\n- tea\n- rice\n", "mine\n- tea\n"):
        clock.advance(400)
        main.write_text(text)
        assert note_read("ana", MAIN, clock=clock).text.decode() == text


def test_editor_that_has_emptied_the_file_at_the_exchange_is_waited_for(main, monkeypatch):
    """What is taken away is read when its editor is done: a part of a text never becomes the note."""
    main.write_text("# Mine\n")
    append("tea")
    editors = []

    def begin():
        editors.append(main.open("w"))
        editors[0].write("# Yours\n- tea\n")  # in its buffer still

    with monkeypatch.context() as patch:
        patch.setattr(folders.time, "sleep", lambda _: [each.close() for each in editors])
        append("rice", step=at("exchange", begin))
    assert note_read("ana", MAIN).text == b"# Yours\n- tea\n- rice\n"
    sizes = list(NoteVersion.objects.filter(kind=ChangeKind.FOUND).order_by("number").values_list("size", flat=True))
    assert sizes == [len("# Mine\n"), len("# Yours\n- tea\n")]


@pytest.mark.parametrize("moment", ["keep displaced", "done", "later"])
def test_editor_that_takes_its_time_after_emptying_the_file_is_brought_in(main, monkeypatch, moment):
    monkeypatch.setattr(folders, "QUIET_SECONDS", 0.0)
    main.write_text("# Mine\n")
    append("tea")
    editors = []

    def begin():
        editors.append(main.open("w"))
        editors[0].write("# Yours\n- tea\n")

    def step(name):
        if name == "exchange" and not editors:
            begin()
        elif name == moment:
            editors[0].close()

    append("rice", step=step)
    append("plums")
    editors[0].close()
    time.sleep(folders.DONE_SECONDS + 0.1)
    assert note_read("ana", MAIN).text == b"# Yours\n- tea\n- rice\n- plums\n"


def test_save_in_place_across_an_append_keeps_entries_that_its_editor_had_not_seen_before(main):
    """The editor has read the file before an entry that was there when it opened it for writing."""
    append("tea")
    read = main.read_text()
    append("rice")
    editor = main.open("r+")
    append("plums")
    editor.write("# Mine\n" + read)
    editor.truncate()
    editor.close()
    time.sleep(folders.DONE_SECONDS + 0.1)
    assert note_read("ana", MAIN).text == b"# Mine\n- tea\n- rice\n- plums\n"


def test_entry_that_an_editor_saved_before_it_was_recorded_is_added_again_like_others(main):
    """One editor saves in the moment of an append, another one reads what the hub wrote, and saves that."""
    append("tea")
    exchanges = []

    def step(name):
        if name != "exchange":
            return
        exchanges.append(name)
        if len(exchanges) == 1:
            save_by_rename(main, "mine\n- tea\n")
        elif len(exchanges) == 2:
            save_by_rename(main, "yours\n" + main.read_text())

    append("rice", operation="turn 7", step=step)
    assert note_read("ana", MAIN).text == b"yours\nmine\n- tea\n- rice\n"
    assert not append("rice", operation="turn 7")[1]
    append("plums")
    assert text_of(NoteVersion.objects.order_by("number").last()) == main.read_bytes()
    save_by_rename(main, "mine\n- tea\n")
    assert note_read("ana", MAIN).text == b"mine\n- tea\n- rice\n- plums\n"


@pytest.mark.parametrize("is_saved_again", [False, True])
@pytest.mark.parametrize("step", dict.fromkeys((*WRITE_STEPS, *REPLACE_STEPS)))
def test_adding_again_that_is_cut_off_is_finished(main, monkeypatch, step, is_saved_again):
    """Also where an editor saves with some of the entries after that."""
    monkeypatch.setattr(folders, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(folders, "DONE_SECONDS", 0.0)
    append("tea")
    for entry in ("rice", "plums", "rice"):
        append(entry)
    save_by_rename(main, "- tea\n")

    def cut(name):
        if name == step:
            raise CutOffError

    with pytest.raises(CutOffError):
        append("pears", operation="turn 7", step=cut)
    if is_saved_again:
        save_by_rename(main, "# Mine\n- tea\n- rice\n")
    text = note_read("ana", MAIN).text.decode()
    assert text.removeprefix("# Mine\n") == "- tea\n- rice\n- plums\n- rice\n"
    append("pears", operation="turn 7")
    last = NoteVersion.objects.order_by("number").last()
    assert text_of(last) == main.read_bytes() == text.encode() + b"- pears\n"
    assert not NoteVersion.objects.filter(is_written=False).exists()
