"""What differs between two texts."""

from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.diff import DiffLine, LineKind, compare_lines
from tests.timing import assert_quick


def marked(before: str, after: str) -> list[str]:
    return [line.marked for line in compare_lines(before, after)]


def test_equal_texts_have_no_lines() -> None:
    assert marked("a\nb\n", "a\nb\n") == []


def test_a_change_is_shown_with_what_is_beside_it() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21))
    after = before.replace("10\n", "ten\n").replace("20\n", "20\n21\n")
    assert marked(before, after) == [
        "@@ line 7 @@", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13",
        "@@ line 18 @@", " 18", " 19", " 20", "+21",
    ]  # fmt: skip


def test_texts_that_differ_in_line_ends_only_say_so() -> None:
    assert compare_lines("a\r\nb", "a\nb") == [DiffLine(LineKind.HUNK, "Only line ends differ.")]


texts = st.lists(st.sampled_from("abcde"), max_size=30).map("\n".join)


@given(texts, texts)
def test_lines_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    lines = compare_lines(before, after)
    removed = [line.text for line in lines if line.kind is LineKind.REMOVED]
    added = [line.text for line in lines if line.kind is LineKind.ADDED]
    kept = len(before.splitlines()) - len(removed)
    assert kept == len(after.splitlines()) - len(added)
    assert all(line in before.splitlines() for line in removed)
    assert all(line in after.splitlines() for line in added)


def test_changes_far_apart_in_a_long_text_are_small() -> None:
    body = "".join(f"line {number}\n" + "\n" * (number % 3) for number in range(5_000))
    changed = marked(body, f"first\n{body}last\n")
    assert [line for line in changed if line[0] in "+-"] == ["+first", "+last"]


def test_long_texts_without_a_line_of_their_own_are_one_change() -> None:
    before, after = "x\n" + "a\nb\n" * 2_000 + "y\n", "v\n" + "b\nb\na\n" * 2_000 + "w\n"
    assert len(marked(before, after)) == 4_002 + 6_002


def test_long_texts_are_compared_in_linear_time() -> None:
    assert_quick(lambda text: compare_lines(text, text[::-1]), "a b\nc d\ne\n" * 20_000, 5)
