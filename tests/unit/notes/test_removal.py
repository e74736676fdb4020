"""Taking an item out of a note: only the whole item, and nothing of what a person added."""

import pytest

from apps.notes.domain.text import remove_item

ITEM = b"- tea"


@pytest.mark.parametrize(
    "rest",
    [
        b"", b"\n", b"- rice\n", b"\n## More\n", b"## More\n", b"\nA paragraph.\n", b"> quote\n", b"```\nx\n```\n",
        b"---\n", b"<!-- mine -->\n", b" * rice\n", b"1. rice\n", b"\n\xff\xfe\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_item_is_taken_out(rest, end):
    head, rest = b"# Mine\n\n".replace(b"\n", end), rest.replace(b"\n", end)
    assert remove_item(head + ITEM + end + rest, ITEM) == head + rest


def test_last_line_without_a_line_end_is_taken_out():
    assert remove_item(b"- rice\n- tea", ITEM) == b"- rice\n"


@pytest.mark.parametrize(
    "rest",
    [b"  only green\n", b"\tonly green\n", b"only green\n", b" only green\n", b"\n  only green\n", b"  - green\n"],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_item_to_which_a_person_has_added_stays(rest, end):
    assert remove_item((ITEM + b"\n" + rest).replace(b"\n", end), ITEM) is None


def test_line_in_code_or_front_matter_stays():
    code = b"```\n- tea\n```\n"
    assert remove_item(code, ITEM) is None
    assert remove_item(b"~~~~\n```\n- tea\n", ITEM) is None
    assert remove_item(b"---\nlist:\n- tea\n---\n", ITEM) is None
    assert remove_item(b"- tea\n" + code, ITEM) == code


def test_item_of_several_lines_is_taken_out_as_a_whole():
    item = b"- tea\n  green\n\n  hot"
    assert remove_item(item + b"\n- rice\n", item) == b"- rice\n"
    assert remove_item(item.replace(b"\n", b"\r\n") + b"\r\n- rice\r\n", item) == b"- rice\r\n"
    assert remove_item(item + b"\n  sweet\n", item) is None
    assert remove_item(item + b"\n", ITEM) is None


def test_of_equal_items_as_many_as_wanted_stay():
    text = b"## Food\n- tea\n- tea\n## Other\n- tea\n"
    assert remove_item(text, ITEM, "Food", keep=2) == b"## Food\n- tea\n## Other\n- tea\n"
    assert remove_item(text, ITEM, "Food", keep=3) is None
