"""Whatever the hub, editors and kills do to one note in any order, nothing is lost and nothing is there twice."""

import hashlib
import itertools
import os
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from apps.notes.domain.places import MAIN
from apps.notes.domain.text import digest
from apps.notes.files.changes import note_append, note_edit, note_read, note_restore
from apps.notes.files.desk import WRITE_STEPS, NoteChangedError
from apps.notes.files.folder import REPLACE_STEPS
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import text_of
from apps.notes.models import ChangeKind, NoteVersion
from tests.effort import examples

pytestmark = pytest.mark.django_db
STEPS = st.sampled_from((*WRITE_STEPS, *REPLACE_STEPS))
EDITORS = st.integers(0, 2)
USERS = itertools.count()


class KilledError(Exception):
    """The process is gone."""


def fire_at(step, count, action):
    """Return a function of steps that does something the count-th time that one of them comes."""
    left = [count]

    def fire(name):
        if name == step:
            left[0] -= 1
            if left[0] == 0:
                action()

    return fire


def kill():
    raise KilledError


class OneNote(RuleBasedStateMachine):
    """One note, the hub, and three editors, each of which has read the file at some time and saves over it later.

    expected: entries that were confirmed, and that no one took out. possible: the other ones, which may be there once.
    """

    def __init__(self):
        super().__init__()
        self.user = f"user {next(USERS)}"
        self.file = folder_of(self.user).path / "MEMORY.md"
        self.numbers = itertools.count()
        self.expected, self.possible, self.sealed, self.saved = set(), set(), set(), []
        self.unconfirmed, self.confirmed = {}, {}
        self.read, self.opened = {}, {}
        self.append()

    def teardown(self):
        for opened in self.opened.values():
            opened.close()

    def new_entry(self):
        number = next(self.numbers)
        return hashlib.sha256(str(number).encode()).hexdigest()[:16], f"turn {number}"

    def text(self):
        return self.file.read_bytes() if self.file.exists() else b""

    def take_out(self, entries):
        self.possible |= entries
        self.expected -= entries

    def add(self, entry, operation, step=None):
        note_append(self.user, MAIN, entry, author="hub", operation=operation, **({"step": step} if step else {}))
        self.possible.discard(entry)
        self.expected.add(entry)
        self.confirmed[operation] = entry

    @rule()
    def append(self):
        self.add(*self.new_entry())

    @rule(step=STEPS, count=st.integers(1, 3))
    def append_and_be_killed(self, step, count):
        entry, operation = self.new_entry()
        self.possible.add(entry)
        try:
            self.add(entry, operation, fire_at(step, count, kill))
        except KilledError:
            self.unconfirmed[operation] = entry

    @precondition(lambda self: self.unconfirmed)
    @rule(data=st.data())
    def repeat_what_was_killed(self, data):
        operation = data.draw(st.sampled_from(sorted(self.unconfirmed)))
        entry = self.unconfirmed.pop(operation)
        _, is_new = note_append(self.user, MAIN, entry, author="hub", operation=operation)
        if is_new:
            self.possible.discard(entry)
            self.expected.add(entry)
        self.confirmed[operation] = entry

    @rule(data=st.data())
    def repeat_what_was_done(self, data):
        operation = data.draw(st.sampled_from(sorted(self.confirmed)))
        assert not note_append(self.user, MAIN, self.confirmed[operation], author="hub", operation=operation)[1]

    @rule(stale=st.booleans(), step=STEPS, count=st.integers(0, 2))
    def edit(self, stale, step, count):
        """Leave out the first entry and add a line, as someone does through the API; count 0: without a kill."""
        note = note_read(self.user, MAIN)
        text = self.changed(note.text or b"", is_shorter=True).decode()
        base = "0" * 64 if stale else note.sha256
        if stale:
            with pytest.raises(NoteChangedError):
                note_edit(self.user, MAIN, text, base=base, author="person")
            self.saved.append(text.encode())
            return
        there = {each for each in self.expected if each.encode() not in text.encode()}
        self.take_out(there)
        self.sealed = set(self.expected)
        try:
            note_edit(self.user, MAIN, text, base=base, author="person", step=fire_at(step, count, kill))
            self.saved.append(text.encode())
        except KilledError:
            pass

    @rule(data=st.data())
    def restore(self, data):
        note_read(self.user, MAIN)
        versions = list(NoteVersion.objects.filter(user_id=self.user).order_by("number"))
        version = data.draw(st.sampled_from(versions))
        text = text_of(version)
        self.take_out({each for each in self.expected if each.encode() not in text})
        self.sealed = set(self.expected)
        note_restore(self.user, MAIN, version.number, author="person")
        assert self.text() == text

    @rule(editor=EDITORS)
    def open(self, editor):
        """Read the file, as an editor does that saves later; it keeps the file open as well."""
        if editor in self.opened:
            self.opened.pop(editor).close()
        self.read[editor] = self.text()
        if self.file.exists():
            self.opened[editor] = self.file.open("r+b", buffering=0)

    @rule(editor=EDITORS)
    def read_what_another_one_has_emptied(self, editor):
        """Read the file in the moment in which another editor has emptied it to write it."""
        if editor in self.opened:
            self.opened.pop(editor).close()
        self.read[editor] = b""

    def changed(self, text, *, is_shorter):
        lines = text.splitlines(keepends=True)
        entries = [line for line in lines if line.startswith(b"- ")]
        if is_shorter and entries:
            lines.remove(entries[0])
        return f"PERSON {next(self.numbers)}\n".encode() + b"".join(lines)

    def save_text(self, editor, is_shorter):
        """Return what an editor saves, and note what it takes out, or may overwrite for good."""
        before = self.read[editor]
        text = self.changed(before, is_shorter=is_shorter)
        missing = {each for each in self.expected if each.encode() not in text}
        self.take_out({each for each in missing if each.encode() in before or each in self.sealed})
        return text

    def save(self, editor, text, in_place):
        if not in_place:
            aside = self.file.with_name("aside.tmp")
            aside.write_bytes(text)
            aside.rename(self.file)
        elif editor in self.opened:
            opened = self.opened[editor]
            opened.seek(0)
            opened.truncate()
            opened.write(text)
        self.read[editor] = text

    @precondition(lambda self: self.read)
    @rule(data=st.data(), in_place=st.booleans(), is_shorter=st.booleans())
    def save_from_an_editor(self, data, in_place, is_shorter):
        editor = data.draw(st.sampled_from(sorted(self.read)))
        text = self.save_text(editor, is_shorter)
        self.save(editor, text, in_place)
        is_linked = not in_place or (editor in self.opened and self.is_linked(editor))
        note_read(self.user, MAIN)
        if is_linked:
            self.saved.append(text)

    def is_linked(self, editor):
        """Return whether an editor's open file has a name still; what another one has replaced has none."""
        return os.fstat(self.opened[editor].fileno()).st_nlink > 0

    @precondition(lambda self: self.read)
    @rule(data=st.data(), step=STEPS, is_killed=st.booleans())
    def append_while_an_editor_saves(self, data, step, is_killed):
        editor = data.draw(st.sampled_from(sorted(self.read)))
        text = self.save_text(editor, is_shorter=False)
        entry, operation = self.new_entry()
        self.possible.add(entry)

        def save():
            self.save(editor, text, in_place=False)
            self.saved.append(text)
            if is_killed:
                raise KilledError

        try:
            self.add(entry, operation, fire_at(step, 1, save))
        except KilledError:
            self.unconfirmed[operation] = entry

    @rule()
    def delete(self):
        note_read(self.user, MAIN)
        self.file.unlink(missing_ok=True)
        self.take_out(set(self.expected))

    @invariant()
    def nothing_is_lost_and_nothing_twice(self):
        note = note_read(self.user, MAIN)
        assert (note.text or b"") == self.text()
        assert note.version is not None
        assert text_of(note.version) == (note.text or b"")
        lines = (note.text or b"").decode().splitlines()
        counts = {each: lines.count(f"- {each}") for each in self.expected | self.possible}
        assert [each for each in self.expected if counts[each] != 1] == []
        assert [each for each, count in counts.items() if count > 1] == []
        known = set(NoteVersion.objects.filter(user_id=self.user).values_list("sha256", flat=True))
        assert [text for text in self.saved if digest(text) not in known] == []
        kept = NoteVersion.objects.filter(user_id=self.user, is_written=False)
        assert not kept.exclude(kind=ChangeKind.FOUND).exists()


def test_any_order_of_changes_loses_nothing(monkeypatch):
    # Editors are done at once, and hidden files stay: no step waits, and a slow machine changes nothing.
    monkeypatch.setattr("apps.notes.files.folder.DONE_SECONDS", 0.0)
    monkeypatch.setattr("apps.notes.files.folder.QUIET_SECONDS", 0.0)
    monkeypatch.setattr("apps.notes.files.folder.SETTLE_SECONDS", 3_600.0)
    monkeypatch.setattr("apps.notes.files.overwritten.SEEN_AFTER", timedelta(hours=1))
    tried = settings(max_examples=examples(60), stateful_step_count=16, deadline=None)
    run_state_machine_as_test(OneNote, settings=tried)
