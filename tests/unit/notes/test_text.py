"""Adding to a text: only the entry is new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.notes.domain.text import (
    Heading,
    add_entry,
    appended_since,
    digest,
    find_section,
    headings,
    headings_above,
    line_end,
    put_item,
)
from tests.timing import assert_quick


def added(text: bytes, entry: str, category: str = "") -> bytes:
    return add_entry(text, entry, category).apply(text)


def test_entry_is_added_at_the_end():
    assert added(b"", "tea") == b"- tea\n"
    assert added(b"# Memory\n- tea\n", "rice") == b"# Memory\n- tea\n- rice\n"
    assert added(b"no line end", "rice") == b"no line end\n- rice\n"


def test_entry_goes_under_the_heading_of_its_category():
    text = b"# Memory\n\n## Food\n\n- tea\n\n## Work\n\n- boats\n"
    assert added(text, "rice", "Food") == b"# Memory\n\n## Food\n\n- tea\n- rice\n\n## Work\n\n- boats\n"
    assert added(text, "oars", "work") == text + b"- oars\n"


def test_category_without_a_heading_gets_one():
    assert added(b"", "tea", "Food") == b"## Food\n\n- tea\n"
    assert added(b"# Memory\n", "tea", "Food") == b"# Memory\n\n## Food\n\n- tea\n"
    assert added(b"text", "tea", "Food") == b"text\n\n## Food\n\n- tea\n"


def test_empty_section_and_section_of_prose():
    assert added(b"## Food\n\n## Work\n", "tea", "Food") == b"## Food\n\n- tea\n\n## Work\n"
    assert added(b"## Food\nGreen things.\n", "tea", "Food") == b"## Food\nGreen things.\n\n- tea\n"


def test_spaces_at_the_end_of_a_line_stay_in_it():
    assert added(b"## Food\n- tea  \n\n## Work\n", "rice", "Food") == b"## Food\n- tea  \n- rice\n\n## Work\n"
    assert added(b"## Food\r\n- tea \t\r\n", "rice", "Food") == b"## Food\r\n- tea \t\r\n- rice\r\n"
    assert added(b"## Food\n- tea  ", "rice", "Food") == b"## Food\n- tea  \n- rice\n"
    assert added(b"## Food\nGreen  ", "rice", "Food") == b"## Food\nGreen  \n\n- rice\n"


def test_subsections_belong_to_a_section():
    text = b"## Food\n- tea\n### Fruit\n- plum\n## Work\n"
    assert added(text, "rice", "Food") == b"## Food\n- tea\n### Fruit\n- plum\n- rice\n## Work\n"


def test_line_ends_of_the_file_are_used():
    assert line_end(b"a\r\nb") == b"\r\n"
    assert added(b"# M\r\n- a\r\n", "b\nc") == b"# M\r\n- a\r\n- b\r\n  c\r\n"


def test_heading_inside_code_or_front_matter_is_no_heading():
    text = b"---\ntitle: x\n# Food\n---\n```\n## Food\n```\n~~~~\n## Food\n~~~\n~~~~\n## Food ##\n"
    assert [title for _, _, title in headings(text)] == ["Food"]
    assert text[headings(text)[0][0] :] == b"## Food ##\n"
    assert find_section(b"---\nno end\n# Food\n", "Food") is not None


def test_lines_of_an_entry_stay_in_the_item():
    assert added(b"", "one\n\n# two") == b"- one\n\n  # two\n"


@given(st.binary(max_size=200), st.text(min_size=1, max_size=40).filter(str.strip), st.sampled_from(["", "Food"]))
def test_nothing_else_changes(text, entry, category):
    insertion = add_entry(text, entry, category)
    assert 0 <= insertion.offset <= len(text)
    after = insertion.apply(text)
    assert after[: insertion.offset] + after[insertion.offset + len(insertion.inserted) :] == text


@pytest.mark.parametrize("category", ["", "Food"])
def test_bytes_that_are_no_text_stay(category):
    text = b"\xef\xbb\xbf# M\r\n\xff\xfe\x00\r\n"
    after = added(text, "tea", category)
    assert after.startswith(text)
    assert after.endswith(b"- tea\r\n")


def test_title_ends_before_closing_hash_signs():
    lines = {b"## Food ##": "Food", b"# C #": "C", b"# C#": "C#", b"## ##": "", b"### a # b": "a # b"}
    for line, title in lines.items():
        assert [found for _, _, found in headings(line + b"\n")] == [title]
    assert added(b"# C #\n- a\n", "b", "C #") == b"# C #\n- a\n- b\n"


def test_long_heading_takes_no_longer_for_its_spaces():
    assert_quick(lambda text: headings(text.encode()), "\n# a" + " " * 1_000_000 + "x\n", seconds=0.5)


def put(text, item, *above):
    return put_item(text, item, [Heading(level, title) for level, title in above]).apply(text)


def test_item_is_put_below_the_nearest_heading_that_is_there():
    text = b"# Notes\n\n## Food\n- tea\n\n## Work\n- boat\n"
    assert put(text, b"- rice", (3, "Fruit"), (2, "Food"), (1, "Notes")).startswith(
        b"# Notes\n\n## Food\n- tea\n- rice\n"
    )
    assert put(b"# M\r\n## Food\r\n- a\r\n## W\r\n", b"- b\n  c", (2, "Food")) == (
        b"# M\r\n## Food\r\n- a\r\n- b\r\n  c\r\n## W\r\n"
    )


def test_item_whose_heading_is_gone_gets_that_of_its_category_again():
    assert put(b"mine\n", b"- rice", (3, "Fruit"), (2, "Food")) == b"mine\n\n## Food\n\n- rice\n"
    assert put(b"# Notes\n\n", b"- rice", (2, "Food"), (1, "Notes")) == b"# Notes\n\n\n## Food\n\n- rice\n"
    assert put(b"mine\n", b"- rice", (1, "Notes")) == b"mine\n- rice\n", "a person's"
    assert put(b"mine", b"- rice") == b"mine\n- rice\n"
    assert put(b"mine\n", b"- rice", (2, "")) == b"mine\n- rice\n"


def test_headings_above_an_offset_are_those_that_it_is_below():
    text = b"# A\n## B\n### C\n## D\n#### E\nx\n"
    above = headings_above(headings(text), text.index(b"x"))
    assert [(each.level, each.title) for each in above] == [(4, "E"), (2, "D"), (1, "A")]
    assert headings_above(headings(text), 0) == ()


@pytest.mark.parametrize("more", [1, 2, 63, 64, 65, 200])
@pytest.mark.parametrize("end", [b"", b"no line end"])
def test_what_follows_a_known_text_is_found_however_much_it_is(more: int, end: bytes) -> None:
    known = b"".join(b"- %d\n" % number for number in range(100))
    tail = b"".join(b"- more %d\n" % number for number in range(more)) + end
    assert appended_since(known + tail, digest(known)) == tail
    assert appended_since(b"!" + known + tail, digest(known)) is None


@given(st.lists(st.sampled_from([b"", b"a", b"b"]), max_size=80), st.integers(0, 80))
def test_known_text_ends_with_a_line_and_is_not_all(lines: list[bytes], count: int) -> None:
    text = b"\n".join(lines)
    known = b"".join(line + b"\n" for line in lines[:count])
    expected = text[len(known) :] if known and text.startswith(known) else b""
    assert appended_since(text, digest(known)) == (expected or None)
    assert appended_since(known + b"\n", digest(known)) == (b"\n" if known else None)
