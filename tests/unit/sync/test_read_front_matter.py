"""YAML front matter in the ways in which people write it."""

import pytest

from apps.sync.domain.knowledge import Constraint, Convention, ItemStatus, ItemType, Layer, Severity
from tests.unit.sync.readers import parsed, read, refused


def test_every_field_is_read():
    file = parsed(
        "doc/tls.md",
        """
        ---
        id: POL-7
        type: policy
        title: Encrypt all traffic
        summary: Services speak TLS 1.3 to each other.
        status: accepted
        layer: company
        severity: warning
        constraints:
          - TLS 1.2 or older MUST NOT be used
          - text: Certificates are renewed by robots
            severity: info
          - rule: Keep keys in the vault
        tags: [security, network]
        supersedes: POL-3
        superseded-by:
          - "[POL-9](quantum.md)"
        ---
        # Another heading

        Some text.
        """,
    )
    assert (file.item_id, file.type, file.title) == ("POL-7", ItemType.POLICY, "Encrypt all traffic")
    assert file.summary == "Services speak TLS 1.3 to each other."
    assert (file.status, file.layer) == (ItemStatus.ACCEPTED, Layer.COMPANY)
    assert file.constraints == (
        Constraint("TLS 1.2 or older MUST NOT be used", Severity.BLOCKING),
        Constraint("Certificates are renewed by robots", Severity.INFO),
        Constraint("Keep keys in the vault", Severity.WARNING),
    )
    assert file.tags == ("security", "network")
    assert (file.supersedes, file.superseded_by) == (("POL-3",), ("doc/quantum.md",))
    assert file.convention is Convention.FRONT_MATTER
    assert {"7", "pol-7", "doc/tls.md"} <= set(file.aliases)


def test_names_in_any_writing():
    file = parsed(
        "x.md",
        "---\nID: A-1\nTITLE: Queues\nStatus: Approved\nKeywords: a, b、c\n"
        "Superseded By: A-2 and A-3\nReplaces: 4\n---\nText.",
    )
    assert (file.item_id, file.title, file.status) == ("A-1", "Queues", ItemStatus.ACCEPTED)
    assert (file.tags, file.superseded_by, file.supersedes) == (("a", "b", "c"), ("A-2", "A-3"), ("A-4",))


@pytest.mark.parametrize("written", ["0012", "2024-01-31", "1e3", "yes", "0x1F", "12:30"])
def test_ids_stay_as_they_are_written(written):
    assert parsed("x.md", f"---\nid: {written}\n---\nText.").item_id == written


@pytest.mark.parametrize("nothing", ["", "~", "null", '""', "[]"])
def test_empty_values_are_none(nothing):
    file = parsed(
        "notes/queues.md", f"---\nid: {nothing}\nstatus: {nothing}\ntags: {nothing}\ntitle: Queues\n---\nText."
    )
    assert (file.item_id, file.status, file.tags) == ("notes/queues", ItemStatus.ACCEPTED, ())


def test_constraints_as_a_mapping_or_a_text():
    assert parsed("x.md", "---\nconstraints:\n- MUST: use TLS\n- should: log\n---\nText.").constraints == (
        Constraint("MUST: use TLS", Severity.BLOCKING),
        Constraint("should: log", Severity.WARNING),
    )
    assert parsed("x.md", "---\nconstraints: Keep it small\n---\nText.").constraints == (Constraint("Keep it small"),)


def test_unknown_words_leave_it_to_the_folder():
    file = parsed("company/policies/x.md", "---\ntype: page\nlayer: moon\nid: X\n---\nText.")
    assert (file.type, file.layer) == (ItemType.POLICY, Layer.COMPANY)


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        ("title: a\nstatus: b: c", 3),
        ("title: a\n\tstatus: b", 3),
        ("title: [a", 3),
        ("title: a\ntitle: b", 3),
        ("title: a\nTitle: b", 2),
        ("a: &x 1\nb: *x", 2),
        ("a: 1\nb: *x", 3),
        ("a: !!python/object/apply:os.system [ls]", 2),
        ("a: !secret b", 2),
        ("- a\n- b", 2),
        ("just a text", 2),
        ("? {a: b}\n: c", 2),
        ('a: "\\q"', 2),
    ],
)
def test_front_matter_that_cannot_be_read_is_refused_with_its_line(yaml, line):
    file = refused("x.md", f"---\n{yaml}\n---\n# Title\n\nText.")
    assert file.code == "front_matter_invalid"
    assert file.detail.startswith(f"Line {line}:")


def test_front_matter_that_is_never_closed():
    assert refused("x.md", "---\nid: A\ntitle: B\n\n# Title\n").code == "front_matter_invalid"
    assert refused("x.md", "+++\ntitle = 1\n+++\nText.").code == "front_matter_invalid"


@pytest.mark.parametrize(
    ("yaml", "code"),
    [
        ("a: " + "[" * 50 + "]" * 50, "front_matter_too_deep"),
        ("a: " + "{a: " * 50 + "1" + "}" * 50, "front_matter_too_deep"),
        ("a: [" + "1," * 20_000 + "]", "front_matter_too_large"),
        ("a: " + "x" * 100_000, "front_matter_too_large"),
        ("id: " + "x" * 300, "id_unusable"),
        ("a: &a [1]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]", "front_matter_invalid"),
    ],
)
def test_bombs_are_refused(yaml, code):
    assert refused("x.md", f"---\n{yaml}\n---\nText.").code == code


def test_escaped_control_characters_do_not_get_into_values():
    file = parsed("x.md", '---\nid: "A\\0\\x1b-1"\ntitle: "a\\u202Eb\\nc"\ntags: ["\\x85x"]\n---\nText.')
    assert (file.item_id, file.title, file.tags) == ("A-1", "ab c", ("x",))


def test_other_ends_of_front_matter():
    assert parsed("x.md", "---\r\nid: A\r\n...\r\nText.\r\n").item_id == "A"
    draft = parsed(
        "x.md",
        "---\ntitle: A protocol\ndocname: draft-x-01\n\n--- abstract\n\nIt moves bytes.\n\n--- middle\n\n# Start\n",
    )
    assert (draft.item_id, draft.summary) == ("draft-x-01", "It moves bytes.")
    assert parsed("x.md", "\ufeff---\nid: A\n---\nText.").item_id == "A"


def test_a_source_of_front_matter_only_skips_other_files():
    assert refused("x.md", "# Title\n\nText.", Convention.FRONT_MATTER).code == "not_an_item"
    assert read("x.md", "---\nid: A\n---\nText.", Convention.PLAIN).item_id == "x"
