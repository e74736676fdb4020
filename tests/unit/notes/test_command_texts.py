"""Paths, changes and answers of the file commands of the memory tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.notes.domain import command_texts as texts
from apps.notes.domain.command_texts import CommandError

REFUSED = {
    "elsewhere": "/etc/passwd",
    "relative": "MEMORY.md",
    "another root": "/memories2/a.md",
    "parent": "/memories/../users/ben/MEMORY.md",
    "parent below": "/memories/daily/../../x.md",
    "encoded parent": "/memories/%2e%2e/x.md",
    "encoded slash": "/memories/a%2fb.md",
    "encoded twice": "/memories/%252e%252e/x.md",
    "double slash": "/memories//etc/passwd.md",
    "nul": "/memories/a\0.md",
    "backslash": "/memories/..\\x.md",
    "300 characters": f"/memories/{'a' * 300}.md",
    "too deep": f"/memories/{'a/' * 9}b.md",
    "device": "/memories/con.md",
    "hidden": "/memories/.git/config.md",
    "other users": "/memories/users/ben/MEMORY.md",
    "other users in capitals": "/memories/USERS/ben/MEMORY.md",
    "settings": "/memories/memory-config.json",
    "hidden file of an exchange": f"/memories/.MEMORY.md.{'0' * 64}.00000000.displaced",
    "no extension": "/memories/notes",
    "program": "/memories/a.py",
    "root": "/memories",
    "folder": "/memories/a.md/",
    "surrogate": "/memories/\ud800.md",
    "line end": "/memories/a\nb.md",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_hostile_path_of_a_file_is_refused(kind):
    with pytest.raises(CommandError):
        texts.parse_file(REFUSED[kind])


@pytest.mark.parametrize("path", ["MEMORY.md", "daily/2026-03-04.md", "a b.txt", "火星/plan.XML", "100%.md"])
def test_plain_path_is_a_place(path):
    assert str(texts.parse_file(f"/memories/{path}")) == path


@pytest.mark.parametrize("path", ["/memories", "/memories/"])
def test_root_is_the_folder_itself(path):
    assert texts.parse_target(path) is None


def test_lines_of_a_file_are_numbered_as_models_know_them():
    text = "# Tea\n\n- green"
    assert texts.file_text("/memories/a.md", text) == (
        "Here's the content of /memories/a.md with line numbers:\n     1\t# Tea\n     2\t\n     3\t- green"
    )
    assert texts.file_text("p", text, [2, -1]).endswith(":\n     2\t\n     3\t- green")
    assert texts.file_text("p", text, [3, 99]).endswith(":\n     3\t- green")
    assert texts.file_text("p", "\ufeffa\r\nb\r\n").endswith(":\n     1\ta\n     2\tb\n     3\t")


@pytest.mark.parametrize("view_range", [[4, 5], [3, 2], [9, -1]])
def test_range_outside_of_the_file_says_how_long_it_is(view_range):
    with pytest.raises(CommandError, match="3 lines"):
        texts.file_text("p", "a\nb\nc", view_range)


def test_file_with_a_million_lines_is_not_shown():
    with pytest.raises(CommandError, match=r"999,999 lines\."):
        texts.file_text("p", "\n" * 999_999)


def test_folder_is_listed_with_sizes():
    entries = [("MEMORY.md", False, 512), ("daily", True, 1536), ("daily/2026-03-04.md", False, 1536)]
    assert texts.folder_text("/memories", 2048, entries) == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
        "2K\t/memories\n512B\t/memories/MEMORY.md\n1.5K\t/memories/daily/\n1.5K\t/memories/daily/2026-03-04.md"
    )
    assert [texts.size_text(size) for size in (0, 1, 1023, 1024, 1024**2, 5 * 1024**2 + 1)] == [
        "0B", "1B", "1023B", "1K", "1M", "5.0M"
    ]  # fmt: skip


def test_passage_that_occurs_once_is_replaced():
    changed, answer = texts.replaced("p", "a\nb\nc\nd\ne\nf\n", "d", "D\nD")
    assert changed == "a\nb\nc\nD\nD\ne\nf\n"
    assert answer == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     2\tb\n     3\tc\n     4\tD\n     5\tD\n     6\te"
    )


def test_passage_that_is_missing_or_occurs_again_is_not_replaced():
    with pytest.raises(CommandError, match=r"old_str `x` did not appear verbatim in p\."):
        texts.replaced("p", "a", "x", "y")
    with pytest.raises(CommandError, match="did not appear verbatim"):
        texts.replaced("p", "a", "", "y")
    with pytest.raises(CommandError, match="`a` in lines: 1, 3"):
        texts.replaced("p", "a\nb\na", "a", "y")


def test_line_ends_of_the_file_are_those_of_what_is_put_in():
    assert texts.replaced("p", "a\r\nb\r\nc\r\n", "a\nb", "x\ny")[0] == "x\r\ny\r\nc\r\n"
    assert texts.inserted("a\r\nb\r\n", 1, "x\ny\n") == "a\r\nx\r\ny\r\nb\r\n"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("a\nb\n", 0, "x\na\nb\n"),
        ("a\nb\n", 1, "a\nx\nb\n"),
        ("a\nb\n", 2, "a\nb\nx\n"),
        ("a\nb", 2, "a\nb\nx\n"),
        ("a\nb", 1, "a\nx\nb"),
        ("", 0, "x\n"),
        ("\ufeffa\n", 0, "\ufeffx\na\n"),
        ("\ufeff", 0, "\ufeffx\n"),
    ],
)
def test_lines_are_inserted(text, line, expected):
    assert texts.inserted(text, line, "x") == expected


@pytest.mark.parametrize(("text", "line", "last"), [("a\nb\n", 3, 2), ("a\nb", -1, 2), ("", 1, 0)])
def test_line_outside_of_the_file_is_refused(text, line, last):
    with pytest.raises(CommandError, match=rf"Invalid `insert_line` parameter: {line}\. .* \[0, {last}\]"):
        texts.inserted(text, line, "x")


@given(st.text(alphabet="ab\n\r\ufeff"), st.text(alphabet="xy\n", min_size=1), st.integers(0, 9))
def test_insertion_leaves_everything_else(text, addition, line):
    try:
        changed = texts.inserted(text, line, addition)
    except CommandError:
        return
    left = text
    for at in range(len(text) + 1):
        if changed.startswith(text[:at]) and changed.endswith(text[at:]):
            left = ""
            break
    assert left == ""


@pytest.mark.parametrize(
    ("text", "old", "lines"),
    [("a\r\nb\r\nc\na\nb\n", "a\nb", "1, 4"), ("aaa", "aa", "1"), ("x\nx x x\nx", "x", "1, 2, 3")],
)
def test_passage_in_other_line_ends_or_overlapping_is_ambiguous(text, old, lines):
    with pytest.raises(CommandError, match=f"in lines: {lines}\\. "):
        texts.replaced("/memories/a.md", text, old, "new")


def test_passage_that_begins_with_a_line_end_of_windows_is_unique():
    assert texts.replaced("/memories/a.md", "a\r\nb\r\n", "\nb", "\nc")[0] == "a\r\nc\r\n"
