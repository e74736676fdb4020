"""Two texts that were made of the same one become one, without losing a line of either."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.notes.domain.merge import merge_texts

BASE = "# Memory\n\n- tea\n- figs\n- rice\n"
TEXTS = st.lists(st.sampled_from(["- tea", "- figs", "- rice", "", "# Memory", "- plums"]), max_size=8).map("\n".join)


@pytest.mark.parametrize(
    ("theirs", "mine", "both", "clashes"),
    [
        (BASE, BASE, BASE, 0),
        (BASE + "- plums\n", BASE, BASE + "- plums\n", 0),
        (BASE, BASE.replace("tea", "green tea"), BASE.replace("tea", "green tea"), 0),
        (BASE + "- plums\n", BASE.replace("tea", "green tea"), BASE.replace("tea", "green tea") + "- plums\n", 0),
        (BASE.replace("- figs\n", ""), BASE.replace("# M", "# My m"), "# My memory\n\n- tea\n- rice\n", 0),
        (BASE.replace("figs", "dates"), BASE.replace("figs", "dates"), BASE.replace("figs", "dates"), 0),
        (BASE.replace("figs", "dates"), BASE.replace("figs", "nuts"), BASE.replace("- figs", "- dates\n- nuts"), 1),
        (BASE + "- one\n", BASE + "- two\n", BASE + "- one\n- two\n", 1),
        (BASE + "- one\n- two\n", BASE + "- two\n- three\n", BASE + "- one\n- two\n- three\n", 1),
        ("- one", "- two", "- one\n- two", 1),
        ("", BASE.replace("tea", "coffee"), BASE.replace("tea", "coffee"), 1),
    ],
)  # fmt: skip
def test_changes_of_both_are_in_the_merged_text(theirs: str, mine: str, both: str, clashes: int) -> None:
    merged = merge_texts("" if theirs == "- one" else BASE, theirs, mine)
    assert (merged.text, merged.clashes) == (both, clashes)


@given(TEXTS, TEXTS)
def test_a_side_that_changed_nothing_gives_way(base: str, other: str) -> None:
    assert merge_texts(base, other, base).text == other
    assert merge_texts(base, base, other).text == other
    assert merge_texts(base, other, other).text == other


@given(TEXTS, TEXTS, TEXTS)
def test_no_new_line_of_either_side_is_lost(base: str, theirs: str, mine: str) -> None:
    merged = merge_texts(base, theirs, mine).text.split("\n")
    for line in {*theirs.split("\n"), *mine.split("\n")} - {*base.split("\n"), ""}:
        assert line in merged


def test_long_texts_are_merged_in_time() -> None:
    base = "".join(f"- fact {number}\n" for number in range(100_000))
    theirs, mine = base + "- last\n", "- first\n" + base
    assert merge_texts(base, theirs, mine).text == f"- first\n{base}- last\n"


def test_a_long_text_that_both_changed_everywhere_has_each_line_once() -> None:
    base = [f"- fact {number}\n" for number in range(5_000)]
    theirs = ["- editor\n", *base[:2_000], "- between\n", *base[2_000:], "- shell\n"]
    mine = [*base[:4_000], "- entry\n", *base[4_000:], "- api\n"]
    merged = merge_texts("".join(base), "".join(theirs), "".join(mine))
    wanted = [*theirs[:4_002], "- entry\n", *theirs[4_002:], "- api\n"]
    assert (merged.text, merged.clashes) == ("".join(wanted), 1)
