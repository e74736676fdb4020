"""Plain files: what their place and their text say."""

import pytest

from apps.sync.domain.knowledge import ItemStatus, ItemType, Layer
from apps.sync.domain.readers.markdown import plain_markdown
from apps.sync.domain.readers.references import split_references
from apps.sync.domain.readers.restructured import plain_restructured
from apps.sync.domain.readers.statuses import status_of
from apps.sync.domain.readers.text import cut_at_sentence
from tests.unit.sync.readers import parsed, refused


@pytest.mark.parametrize(
    ("path", "item_id", "item_type", "layer"),
    [
        ("company/policies/tls.md", "company/policies/tls", ItemType.POLICY, Layer.COMPANY),
        ("orgs/shop/patterns/retry/README.md", "orgs/shop/patterns/retry/README", ItemType.PATTERN, Layer.ORG),
        ("teams/x/projects/y/specs/z.md", "teams/x/projects/y/specs/z", ItemType.SPEC, Layer.PROJECT),
        ("policies/POL-001-tls.md", "POL-001", ItemType.POLICY, Layer.TEAM),
        ("patterns/01-retry.md", "PATTERN-01", ItemType.PATTERN, Layer.TEAM),
        ("doc/python-3-guide.md", "doc/python-3-guide", ItemType.SPEC, Layer.TEAM),
        ("團隊/政策/tls.md", "團隊/政策/tls", ItemType.POLICY, Layer.TEAM),
    ],
)
def test_what_a_path_says(path, item_id, item_type, layer):
    file = parsed(path, "# Title\n\nText.")
    assert (file.item_id, file.type, file.layer) == (item_id, item_type, layer)


def test_folder_of_a_status():
    assert parsed("adr/rejected/0001-x.md", "# X").status is ItemStatus.REJECTED
    assert parsed("adr/rejected/0001-x.md", "# X\n\n* Status: accepted").status is ItemStatus.ACCEPTED


def test_id_of_a_long_path():
    first, second = (parsed(f"{name}/" + "x" * 300 + ".md", "Text.").item_id for name in "ab")
    assert first != second
    assert max(len(first), len(second)) <= 200


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# T\n\n[![build](a.svg)](b) ![logo](c.png)\n\nReal text.", "Real text."),
        ("# T\n\n> A quotation.\n\nReal text.", "Real text."),
        ("# T\n\n<p align=center>\n<img src=x>\n</p>\n\nReal text.", "Real text."),
        ("# T\n\n| a | b |\n|---|---|\n| c | d |\n\nReal text.", "Real text."),
        ("# T\n\n```\ncode\n```\n\nReal text.", "Real text."),
        ("# T\n\n~~~\n```\n# no heading\n~~~\n\nReal text.", "Real text."),
        ("# T\n\n<!-- a\nb -->\n[x]: http://y\n\nReal text.", "Real text."),
        ("# T\n\n- [One](#one)\n- [Two](#two)\n\nReal text.", "Real text."),
        ("# T\n\nDate: 2024-01-31\nAuthor: Ana\n\nReal text.", "Real text."),
        ("T\n===\n\nReal\ntext.\n\nMore.", "Real text."),
        ("# T\n\n## Part\n\nReal text.", "Real text."),
        ("# T\n\nPreamble.\n\n## Summary\n\nReal text.", "Real text."),
        ("# T\n\nThree rules:\n\n- one.\n- two", "Three rules: one; two"),
        ("# T\n\n- Use one.\n- Use two.", "Use one; Use two"),
        ("# T\n\n> A quotation.", "A quotation."),
        ("# T\n\n中文的第一句。第二句。", "中文的第一句。第二句。"),
        ("# T\n\n## 背景\n\n為什麼。", "為什麼。"),
        ("# T", ""),
    ],
)
def test_summary_is_the_first_paragraph(text, summary):
    assert parsed("notes/x.md", text).summary == summary


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Short.", "Short."),
        ("One sentence is here. " * 3, "One sentence is here. One sentence is here."),
        ("Systems, e.g. queues, are slow. And more text follows here", "Systems, e.g. queues, are slow."),
        ("這是第一句話。這是第二句話！" + "很長" * 30, "這是第一句話。這是第二句話！"),
        ("word " * 30, "word word word word word word word word word…"),
        ("x" * 80, "x" * 49 + "…"),
    ],
)
def test_cut_at_a_sentence(text, cut):
    assert cut_at_sentence(text, 50) == cut


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("**bold** and *soft* and _soft_ and ~~gone~~", "bold and soft and soft and gone"),
        ("這是**粗體**字", "這是粗體字"),
        ("***both* things**", "both things"),
        ("snake_case, __init__, 2 * 3 * 4, except*", "snake_case, __init__, 2 * 3 * 4, except*"),
        ("[a `b` c](http://x/(y)) [d][e] <https://z>", "a b c d https://z"),
        ("`[x](y)` and ``a`b``", "[x](y) and a`b"),
        ("a<br/>b &amp; c[^1] \\*d\\*", "ab & c *d*"),
    ],
)
def test_plain_markdown(marked, plain):
    assert plain_markdown(marked) == plain


def test_plain_restructured():
    text = "``*args`` **bold** *soft* `a <b>`_ :func:`~os.path.join` :rfc:`9` link_ __dict__ [1]_ x\\ s except*"
    assert plain_restructured(text) == "*args bold soft a join RFC 9 link __dict__ xs except*"


@pytest.mark.parametrize(
    ("written", "references"),
    [
        ("ADR-1, ADR-2", ["ADR-1", "ADR-2"]),
        ("PEP 465 and PEP 466", ["PEP-465", "PEP-466"]),
        ("649, 749", ["649", "749"]),
        ("#12", ["12"]),
        ("[ADR-5](0005-foo.md#top), 7", ["0005-foo.md", "7"]),
        ("[ADR-5](https://example.org/x/0005-foo.md)", ["ADR-5"]),
        ("[this](https://example.org/x/0005-foo.md)", ["0005-foo.md"]),
        ("ADR-1、ADR-2 和 ADR-3", ["ADR-1", "ADR-2", "ADR-3"]),
        ("terms and conditions", ["terms and conditions"]),
        ("None", []),
        ("n/a", []),
    ],
)
def test_references(written, references):
    assert split_references(written) == references


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("Approved by the board", ItemStatus.ACCEPTED),
        ("not accepted", ItemStatus.REJECTED),
        ("Not yet accepted", ItemStatus.PROPOSED),
        ("No longer valid", ItemStatus.DEPRECATED),
        ("IMPLEMENTED", ItemStatus.ACCEPTED),
        ("Obsolete", ItemStatus.DEPRECATED),
        ("on hold", ItemStatus.PROPOSED),
        ("April Fool!", ItemStatus.REJECTED),
        ("已棄用", ItemStatus.DEPRECATED),
        ("已废弃", ItemStatus.DEPRECATED),
        ("未通過", ItemStatus.REJECTED),
        ("部分取代", ItemStatus.ACCEPTED),
        ("審核中", ItemStatus.PROPOSED),
        ("moonish", ItemStatus.UNKNOWN),
        ("—", None),
    ],
)
def test_statuses_of_the_world(written, status):
    assert status_of(written) is status


@pytest.mark.parametrize(
    ("path", "data", "code"),
    [
        ("x.md", b"", "empty"),
        ("x.md", b" \r\n\t", "empty"),
        ("x.md", b"\xff\xfe#\x00", "not_text"),
        ("x.md", b"# a\n\nb\xff", "not_text"),
        ("x.md", b"# a\n\nb\x00", "not_text"),
        ("x.md", b"\x89PNG\r\n\x1a\n", "not_text"),
        ("x.md", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "not_text"),
        ("x.md", b"a" * 1_000_001, "too_large"),
        ("a\x1b.md", b"text", "name_unusable"),
        ("a\n.md", b"text", "name_unusable"),
        ("x" * 601, b"text", "name_unusable"),
        ("", b"text", "name_unusable"),
    ],
)
def test_files_that_are_no_text(path, data, code):
    file = refused(path, data)
    assert (file.path, file.code) == (path, code)


def test_hash_is_over_the_bytes():
    assert parsed("x.md", "a\n").text_hash == "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"


def test_id_survives_a_move_between_folders_of_stages():
    paths = ("specs/draft/x.md", "specs/accepted/x.md", "specs/rejected/x.md", "specs/x.md")
    assert {parsed(path, "# X\n\nText.\n").item_id for path in paths} == {"specs/x"}
    assert parsed("specs/archive/x.md", "# X\n\nText.\n").item_id == "specs/archive/x"
