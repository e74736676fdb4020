"""Notes are cut into items, paragraphs and blocks of code, with the lines that they are on."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.notes.domain import chunks as module
from apps.notes.domain.chunks import MAX_BLOCKS, MAX_CHARS, chunk_note
from tests.timing import assert_quick

NOTE = """---
title: not searched
---
# Memory

Some words
on two lines.

## Plans
- March: visit Porto
  with Ben
- April: nothing

```python
# no heading

x = 1
```
### Empty
"""


@pytest.fixture(autouse=True)
def single_blocks(monkeypatch):
    monkeypatch.setattr(module, "GROUP_CHARS", 0)


def parts(note):
    return [(each.heading, each.first_line, each.last_line, each.text) for each in chunk_note(note)]


def test_headings_items_paragraphs_and_code():
    assert parts(NOTE.encode()) == [
        ("Memory", 6, 7, "Some words\non two lines."),
        ("Memory > Plans", 10, 11, "- March: visit Porto\n  with Ben"),
        ("Memory > Plans", 12, 12, "- April: nothing"),
        ("Memory > Plans", 14, 18, "```python\n# no heading\n\nx = 1\n```"),
        ("Memory > Plans", 19, 19, "### Empty"),
    ]


def test_line_ends_and_encoding_mark_change_nothing():
    plain = parts(NOTE.encode())
    assert parts(NOTE.replace("\n", "\r\n").encode()) == plain
    assert parts(b"\xef\xbb\xbf" + NOTE.encode()) == plain


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("- a\n  - b\n\n  more\n- c", [(1, 4, "- a\n  - b\n\n  more"), (5, 5, "- c")]),
        ("- a\n\ntext", [(1, 1, "- a"), (3, 3, "text")]),
        ("1. a\n2) b\n* c\n+ d", [(1, 1, "1. a"), (2, 2, "2) b"), (3, 3, "* c"), (4, 4, "+ d")]),
        ("text\n- a", [(1, 1, "text"), (2, 2, "- a")]),
        ("- a\n  ```\n  # b\n\n  - c\n  ```\n- d", [(1, 6, "- a\n  ```\n  # b\n\n  - c\n  ```"), (7, 7, "- d")]),
        ("~~~\n```\n# a\n~~~\nb", [(1, 4, "~~~\n```\n# a\n~~~"), (5, 5, "b")]),
        ("```\nnever closed\n\n# a", [(1, 4, "```\nnever closed\n\n# a")]),
        ("a\n***\nb\n- - -\nc", [(1, 1, "a"), (3, 3, "b"), (5, 5, "c")]),
        ("", []),
        ("\n \n\t\n", []),
    ],
)
def test_blocks(note, expected):
    assert [part[1:] for part in parts(note.encode())] == expected


def test_underlined_headings():
    assert parts(b"Title\n=====\na\n\nSub\n---\n- b") == [("Title", 3, 3, "a"), ("Title > Sub", 7, 7, "- b")]


def test_headings_without_text_are_found_once():
    assert parts(b"# A\n## B\n# C #\n\ntext\n## C#\n") == [
        ("A", 2, 2, "## B"),
        ("C", 5, 5, "text"),
        ("C", 6, 6, "## C#"),
    ]


def test_invalid_utf8_is_replaced_and_lines_are_counted():
    assert parts(b"caf\xe9\n\n\xff\xfe- x\n\n\x00") == [
        ("", 1, 1, "caf\ufffd"),
        ("", 3, 3, "\ufffd\ufffd- x"),
        ("", 5, 5, "\x00"),
    ]


def test_long_blocks_are_cut_at_lines_and_long_lines_at_spaces():
    lines = [f"line {number} " + "x" * 100 for number in range(50)]
    cut = chunk_note("\n".join(lines).encode())
    assert "\n".join(each.text for each in cut) == "\n".join(lines)
    assert [each.first_line for each in cut[1:]] == [each.last_line + 1 for each in cut[:-1]]
    words = "word " * 1_000
    assert "".join(each.text for each in chunk_note(words.encode())) == words
    assert max(len(each.text) for each in [*cut, *chunk_note(words.encode()), *chunk_note(b"x" * 5_000)]) <= MAX_CHARS


def test_tiny_neighbours_are_grouped_below_the_same_headings(monkeypatch):
    monkeypatch.setattr(module, "GROUP_CHARS", 12)
    assert parts(b"# A\n\none\n\ntwo\n\nthree is long\n# B\n\nfour\n") == [
        ("A", 3, 5, "one\ntwo"),
        ("A", 7, 7, "three is long"),
        ("B", 10, 10, "four"),
    ]


def test_items_of_a_list_are_never_grouped(monkeypatch):
    """Spec 001, 搜尋記憶: a hit is one fact with its heading, however short the facts are."""
    monkeypatch.setattr(module, "GROUP_CHARS", 240)
    assert parts(b"# A\n- one\n- two\n\nthree\n\nfour\n\n- five\n") == [
        ("A", 2, 2, "- one"),
        ("A", 3, 3, "- two"),
        ("A", 5, 7, "three\nfour"),
        ("A", 9, 9, "- five"),
    ]


def test_note_of_a_million_blocks_has_few_chunks():
    blocks = chunk_note(b"".join(b"# %d\n- a\n" % number for number in range(MAX_BLOCKS + 1)))
    assert len(blocks) < MAX_BLOCKS / 20
    assert blocks[-1].last_line == 2 * MAX_BLOCKS + 2


@given(st.binary(max_size=300) | st.text(alphabet="#-`~ \t\r\na1.=*", max_size=300).map(str.encode))
def test_any_bytes_are_cut_into_lines_that_follow_each_other(note):
    found = chunk_note(note)
    ranges = [(each.first_line, each.last_line) for each in found]
    assert all(first <= last for first, last in ranges)
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    assert not ranges or ranges[-1][1] <= note.count(b"\n") + 1
    for each in found:
        assert each.text.strip()
        each.text.encode()


@pytest.mark.parametrize(
    "unit",
    [
        "# a\n",
        "- a\n",
        "a\n",
        "  " * 30 + "- a\n",
        "```\n",
        "`",
        "-\n\n",
        "a ",
        " ",
        "\t-",
        "- - ",
        "=\n",
        "a\n=\n",
        "\r",
    ],
)
def test_time_is_linear(unit):
    assert_quick(lambda text: chunk_note(text.encode()), unit * (400_000 // len(unit)), 6)
    assert_quick(lambda text: chunk_note(text.encode()), unit * (800_000 // len(unit)), 12)
