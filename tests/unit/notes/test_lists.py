"""The facts of MEMORY.md: items of lists, and which of them may be changed."""

import pytest

from apps.notes.domain.compaction.lists import list_items

TEXT = """---
tags:
- not a fact
---
# Memory

Some words first.

## About

- Ana lives in Oslo.
* Ana has 2 cats
  and a dog.

- Ana was born in 1990.

Beside that:

- Ana rows.

## Work

1. first
2. second

- [ ] buy milk
- [the plan](https://example.org)
- uses `uv run`
- has a list
  - inside
- goes on
without being indented
- goes on

  after a blank line

```
- in code
```

<!--
- in a comment
-->
- last"""


def facts(text: str) -> list[tuple[str, bool]]:
    return [(item.text, item.is_plain) for item in list_items(text.encode())]


def test_items_outside_of_code_comments_and_front_matter_are_facts() -> None:
    assert [text for text, is_plain in facts(TEXT) if is_plain] == [
        "Ana lives in Oslo.",
        "Ana has 2 cats and a dog.",
        "Ana was born in 1990.",
        "Ana rows.",
        "last",
    ]
    assert [text for text, is_plain in facts(TEXT) if not is_plain] == [
        "first",
        "second",
        "[ ] buy milk",
        "[the plan](https://example.org)",
        "uses `uv run`",
        "has a list",
        "goes on",
        "goes on",
    ]


def test_items_with_something_between_them_are_of_different_lists() -> None:
    runs = {item.text: (item.run, item.under) for item in list_items(TEXT.encode()) if item.is_plain}
    assert runs["Ana lives in Oslo."] == runs["Ana was born in 1990."]
    assert runs["Ana rows."][0] != runs["Ana lives in Oslo."][0]
    assert runs["Ana rows."][1] == ("Memory", "About")
    assert runs["last"][1] == ("Memory", "Work")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bytes_of_an_item_are_its_lines(end: str) -> None:
    text = f"- one{end}- two{end}  and more{end}{end}- three".encode()
    assert [text[item.start : item.end].decode() for item in list_items(text)] == [
        f"- one{end}",
        f"- two{end}  and more{end}",
        "- three",
    ]


def test_item_with_code_inside_is_no_plain_one_to_its_end() -> None:
    text = b"- run this:\n  ```sh\n  - x\n\n  y\n  ```\n- next\n"
    assert [(item.text, item.is_plain, text[item.start : item.end].count(b"\n")) for item in list_items(text)] == [
        ("run this:", False, 6),
        ("next", True, 1),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "- \n", "* * *\n- - -\n", "no list", "\ufeff---\nx\n---\n", "-\n\n-x"])
def test_texts_without_facts(text: str) -> None:
    assert facts(text) == []


def test_worst_cases_take_time_by_their_length() -> None:
    for text in (b"- a\n" * 50_000, b"- " * 50_000, b"```\n" * 30_001, b"<!--" * 40_000, b"#" * 100_000, b">" * 99_999):
        list_items(text)


def test_comment_that_begins_inside_an_item_ends_with_it() -> None:
    text = b"- a <!-- open\n- b\n  <!--\n\n## Work\n\n- c\n<!--\n- hidden\n-->\n- d <!-- x -->\n- e\n"
    assert [(item.text[:1], item.is_plain) for item in list_items(text)] == [
        ("a", False), ("b", False), ("c", False), ("d", False), ("e", True),
    ]  # fmt: skip
