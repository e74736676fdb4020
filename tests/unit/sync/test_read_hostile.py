"""Any bytes become an item within bounds, or are refused, in linear time."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sync.domain.knowledge import Convention, ParsedFile, ReadSettings, RefusedFile
from apps.sync.domain.readers import text
from apps.sync.domain.readers.found import Refusal
from apps.sync.domain.readers.read import read_file
from apps.sync.domain.readers.text import UNPRINTABLE
from tests.timing import assert_quick
from tests.unit.sync.readers import read

SIZE = int(os.environ.get("SIZE", 100_000))
PIECES = (
    *("---\n", "# ", "## Status\n", "## Constraints\n", "Status: ", "id: ", "superseded by ", "[a](b.md)", "- ", "> "),
    *("`", "```\n", "*", "_", "__", "~~", "[", "](", "<", "<!--", "-->", "|", "\n\n", "\n", "    ", "\t", "PEP: 8\n"),
    *(
        "Title: x\n",
        "===\n",
        ".. note::\n",
        "::\n",
        ":pep:`1`",
        "&a ",
        "*a",
        "!!x ",
        "{",
        "}",
        "\x1b",
        "\u202e",
        "取代",
    ),
    *("被", "。", "已接受", "ADR-1", " and ", "2024-01-31 ", "\ufeff", "\r", "\ue0000\ue001", "\\", "x", "0"),
)


def assert_within_limits(file: ParsedFile | RefusedFile) -> None:
    """Check what every reader promises of what it returns."""
    if isinstance(file, RefusedFile):
        assert file.code in set(Refusal)
        assert 0 < len(file.detail) <= 500
        return
    assert 0 < len(file.item_id) <= text.MAX_ID_CHARS
    assert 0 < len(file.title) <= text.MAX_TITLE_CHARS
    assert len(file.summary) <= text.WRITTEN_SUMMARY_CHARS
    references = [*file.supersedes, *file.superseded_by]
    assert all(0 < len(one) <= 2 * text.MAX_PATH_CHARS for one in references)
    assert len(references) <= 2 * text.MAX_REFERENCES
    assert len(file.constraints) <= text.MAX_CONSTRAINTS
    assert len(file.tags) <= text.MAX_TAGS
    texts = [file.item_id, file.title, file.summary, *file.tags, *references, *(one.text for one in file.constraints)]
    assert all(text == text.strip() and "\x00" not in text and "\n" not in text for text in texts)
    assert not any(UNPRINTABLE.search(text) for text in texts)
    json.dumps(texts, ensure_ascii=False).encode()


@given(
    data=st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)),
    path=st.sampled_from(["x.md", "doc/adr/0001-x.md", "pep-0001.rst", "team/x.txt", "README.md"]),
    convention=st.sampled_from(Convention),
)
def test_any_bytes_are_read_within_bounds(data, path, convention):
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    assert_within_limits(read_file(path, raw, ReadSettings(convention=convention)))


@given(path=st.text(max_size=700))
def test_any_path_is_read_within_bounds(path):
    assert_within_limits(read_file(path, b"# Title\n\nText.", ReadSettings()))


def repeated(piece: str, before: str = "", after: str = "") -> str:
    return before + piece * (SIZE // len(piece.encode())) + after


@pytest.mark.parametrize("path", ["adr/0001-x.md", "pep-0001.rst"])
@pytest.mark.parametrize(
    "data",
    [
        repeated("# a\n"),
        repeated("a\n===\n\n"),
        repeated("a"),
        repeated("- a"),
        repeated("- a\n"),
        repeated("  " * 30 + "- a\n"),
        repeated("["),
        repeated("[a]("),
        repeated("<!-- "),
        repeated("<!--\n"),
        repeated("`a"),
        repeated("*a "),
        repeated("__a _b"),
        repeated("> > "),
        repeated("| a "),
        repeated("&amp;"),
        repeated("-", "a\n", " x"),
        repeated(" ", "# ", "x"),
        repeated("superseded by ", "* Status: "),
        repeated("被 a ", "## Status\n\n"),
        repeated("superseded by 1\n", "## Status\n\n"),
        repeated("- MUST a\n", "## Constraints\n\n"),
        repeated("- a\n\n  b\n", "## Constraints\n\n"),
        repeated("a: b\n"),
        repeated("A: b c\n", "PEP: 1\nTitle: x\n"),
        repeated(" b\n", "PEP: 1\nTitle: x\n"),
        repeated("\r"),
        repeated("a: b\n", "---\n"),
        repeated("[", "---\na: "),
        repeated("{a: ", "---\na: "),
        repeated("- ", "---\n", "\n---\n"),
        repeated("? ", "---\n", "\n---\n"),
        repeated("中", "# 標題\n\n"),
        repeated("。", "# 標題\n\n"),
    ],
    ids=lambda data: repr(data[:20]),
)
def test_repetitions_of_anything_are_read_in_linear_time(path, data):
    assert_quick(lambda text: assert_within_limits(read(path, text.lstrip("x ").encode())), data, SIZE / 200_000)


@pytest.mark.parametrize("inside", ["[", "{a: ", "- ", "? ", "a:\n ", "'", '"a\\\n', "| ", "!a ", "&a ", "*a ", "%"])
def test_front_matter_of_anything_is_read_in_linear_time(inside):
    text = "---\na: " + inside * (60_000 // len(inside)) + "\n---\nText."
    assert_quick(lambda text: assert_within_limits(read("x.md", text.lstrip("x ").encode())), text, 0.5)
