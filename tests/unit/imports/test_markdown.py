"""Markdown: observations of Basic Memory, lists of Claude Code, names of notes."""

import pytest

from apps.imports.domain.found import FoundMemory, FoundNote, Reason, Refused
from apps.imports.domain.markdown import note_path, read_memory_file, read_note, read_observations

NOTE = b"""---
title: Rye bread
permalink: bread/rye
created: 2026-02-03
---
# Rye bread

- [method] Proof it cold overnight #slow #winter (from the mill)
- [x] buy flour
- [recipe](https://example.org)
- [fact] Needs #no kneading at all
- requires [[Sourdough starter]] (alive)
- [[Spelt bread]]

```
- [code] not an observation
```
"""


def test_an_observation_has_category_tags_context_and_relations() -> None:
    first, second = read_observations("rye.md", "bread/rye.md", NOTE)
    assert (first.content, first.type, first.keywords) == ("Proof it cold overnight", "method", ("slow", "winter"))
    assert first.context == "Rye bread (from the mill)"
    assert first.occurred_at is not None
    assert first.occurred_at.isoformat() == "2026-02-03T00:00:00+00:00"
    assert (second.content, second.keywords) == ("Needs #no kneading at all", ("no",))
    assert first.metadata["import"]["relations"] == [
        {"kind": "requires", "to": "Sourdough starter", "context": "alive"},
        {"kind": "links_to", "to": "Spelt bread"},
    ]


def test_lists_of_a_memory_file_become_memories_and_links_to_files_do_not() -> None:
    text = b"# Memory\n\n## Wishes\n- Prefers pytest\n- [Style](style.md) - how to write\n  more\n"
    text += b"1. Runs on Arch\n   and zsh\n"
    found = list(read_memory_file("MEMORY.md", "projects/bakery/memory/MEMORY.md", text))
    memories = [one for one in found if isinstance(one, FoundMemory)]
    assert [one.content for one in memories] == ["Prefers pytest", "Runs on Arch\nand zsh"]
    assert {one.project for one in memories} == {"bakery"}
    assert [one.reason for one in found if isinstance(one, Refused)] == [Reason.ONLY_A_LINK]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b.md", "a/b.md"),
        ('what: "now"?.md', "what- -now--.md"),
        ("cafe\u0301.md", "caf\u00e9.md"),
        ("a /..x/b.md", "a/x/b.md"),
    ],
)
def test_names_become_such_as_every_disk_can_hold(path: str, expected: str) -> None:
    assert note_path(path) == expected


def test_a_note_stays_byte_for_byte_and_must_be_utf_8() -> None:
    data = b"\xef\xbb\xbf# Windows\r\n\r\ntext\r\n"
    note = read_note("a.markdown", "a.markdown", data, None)
    assert isinstance(note, FoundNote)
    assert (note.path, note.text) == ("a.md", data)
    assert isinstance(read_note("b.md", "b.md", b"\xff\xfe", None), Refused)
