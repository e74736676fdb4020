"""Decision records of every style."""

import pytest

from apps.sync.domain.knowledge import Constraint, Convention, ItemStatus, ItemType, Layer, Severity
from tests.unit.sync.readers import parsed, refused

NYGARD = """
# 12. Use queues

Date: 2024-01-31

## Status

{status}

## Context

Calls between services fail **together** when one is [slow](https://example.org/slow). We lose orders.

## Decision

We will use queues.
"""


def test_nygard():
    file = parsed("doc/adr/0012-use-queues.md", NYGARD.format(status="Accepted"))
    assert (file.item_id, file.type, file.title, file.status) == (
        "ADR-0012",
        ItemType.ADR,
        "Use queues",
        ItemStatus.ACCEPTED,
    )
    assert file.summary == "Calls between services fail together when one is slow. We lose orders."
    assert file.convention is Convention.DECISION_RECORD
    assert {"adr-0012", "adr-12", "12", "0012", "doc/adr/0012-use-queues.md", "0012-use-queues.md"} <= set(file.aliases)


@pytest.mark.parametrize(
    ("written", "status", "supersedes", "superseded_by"),
    [
        ("Superseded by [ADR-0123](0123-x.md)", ItemStatus.SUPERSEDED, (), ("doc/adr/0123-x.md",)),
        ("Superceded by [13. Use logs](0013-use-logs.md)", ItemStatus.SUPERSEDED, (), ("doc/adr/0013-use-logs.md",)),
        ("Accepted\n\nSupersedes [2. Calls](0002-calls.md)", ItemStatus.ACCEPTED, ("doc/adr/0002-calls.md",), ()),
        ("Accepted\n\nAmended by [14. More](0014-more.md)", ItemStatus.ACCEPTED, (), ()),
        (
            "Superseded by ADR-5 and ADR 6 on 2024-05-01, because of 3 reasons",
            ItemStatus.SUPERSEDED,
            (),
            ("ADR-5", "ADR-6"),
        ),
        ("Partially superseded by ADR-5", ItemStatus.ACCEPTED, (), ()),
        ("~~Proposed~~ Accepted", ItemStatus.ACCEPTED, (), ()),
        ("- [ ] Proposed\n- [x] Rejected", ItemStatus.REJECTED, (), ()),
        ("2024-03-01 accepted\n\n2024-01-01 proposed", ItemStatus.ACCEPTED, (), ()),
        ("2024-01-01: proposed\n\n2024-03-01: deprecated", ItemStatus.DEPRECATED, (), ()),
        ("✅ **Accepted** (by all)", ItemStatus.ACCEPTED, (), ()),
        ("Deprecated by 7", ItemStatus.DEPRECATED, (), ("ADR-7",)),
        ("Replaced by #7", ItemStatus.SUPERSEDED, (), ("ADR-7",)),
        ("已被 [ADR-0005](0005-x.md) 取代", ItemStatus.SUPERSEDED, (), ("doc/adr/0005-x.md",)),
        ("已接受，取代 ADR-0003", ItemStatus.ACCEPTED, ("ADR-0003",), ()),
        ("提議", ItemStatus.PROPOSED, (), ()),
        ("尚未接受", ItemStatus.PROPOSED, (), ()),
        ("Whatever", ItemStatus.UNKNOWN, (), ()),
    ],
)
def test_status_section(written, status, supersedes, superseded_by):
    file = parsed("doc/adr/0012-use-queues.md", NYGARD.format(status=written))
    assert (file.status, file.supersedes, file.superseded_by) == (status, supersedes, superseded_by)


def test_madr_2():
    file = parsed(
        "doc/adr/0003-pick-a-queue.md",
        """
        # Pick a queue

        * Status: superseded by [ADR-0005](0005-logs.md)
        * Deciders: Ana, Ben
        * Date: 2024-01-31

        Technical Story: shop/12

        ## Context and Problem Statement

        Which queue do we use?

        ## Decision Outcome

        Chosen option: "The small one".

        ## Links

        * Supersedes [ADR-0001](0001-calls.md)
        """,
    )
    assert (file.item_id, file.title, file.summary) == ("ADR-0003", "Pick a queue", "Which queue do we use?")
    assert (file.status, file.superseded_by) == (ItemStatus.SUPERSEDED, ("doc/adr/0005-logs.md",))
    assert file.supersedes == ("doc/adr/0001-calls.md",)


def test_madr_4():
    file = parsed(
        "doc/decisions/0004-a.md",
        """
        ---
        status: "superseded by [ADR-0005](0005-foo.md)"
        date: 2024-01-31
        decision-makers: Ana
        ---
        <!-- markdownlint-disable -->

        # Pick `one` of __two__ things

        ## Context and Problem Statement

        <!-- Say what
        it is about. -->
        There are two.
        """,
    )
    assert (file.item_id, file.type, file.title) == ("ADR-0004", ItemType.ADR, "Pick one of __two__ things")
    assert (file.status, file.superseded_by) == (ItemStatus.SUPERSEDED, ("doc/decisions/0005-foo.md",))
    assert file.summary == "There are two."


def test_log4brains():
    file = parsed(
        "doc/adr/20240131-use-queues.md",
        """
        # Use queues

        - Status: accepted
        - Tags: queues, shop

        ## Context and Problem Statement

        Calls fail.

        ## Links

        - Supersedes [20230101-use-calls](20230101-use-calls.md)
        """,
    )
    assert (file.item_id, file.title) == ("doc/adr/20240131-use-queues", "Use queues")
    assert (file.tags, file.supersedes) == (("queues", "shop"), ("doc/adr/20230101-use-calls.md",))


def test_status_in_bold_and_in_tables():
    bold = parsed("adr/1-x.md", "# X\n\n**Status:** Rejected\\\n**Date:** 2024-01-31\n\nNo good.")
    assert (bold.status, bold.summary) == (ItemStatus.REJECTED, "No good.")
    table = parsed("adr/1-x.md", "# X\n\n| Field | Value |\n|---|---|\n| **Status** | Proposed |\n\nMaybe good.")
    assert (table.status, table.summary) == (ItemStatus.PROPOSED, "Maybe good.")


@pytest.mark.parametrize(
    ("path", "heading", "item_id", "title"),
    [
        ("doc/adr/adr-012-use-x.md", "# ADR 12: Use X", "ADR-012", "Use X"),
        ("doc/adr/0012-use-x.md", "# ADR-0012 - Use X", "ADR-0012", "Use X"),
        ("doc/adr/use-x.md", "# ADR-12: Use X", "ADR-12", "Use X"),
        ("doc/adr/use-x.md", "# 12 factors", "doc/adr/use-x", "12 factors"),
        ("doc/adr/12.md", "# [ADR-12] Use X", "ADR-12", "Use X"),
        ("doc/adr/0012-use-x.md", "Nothing", "ADR-0012", "Use x"),
        ("services/billing/doc/adr/0001-x.md", "# X", "services/billing/ADR-0001", "X"),
        ("team/adr/accepted/0001-x.md", "# X", "team/ADR-0001", "X"),
        ("doc/adr/2024-01-31-x.md", "# X", "doc/adr/2024-01-31-x", "X"),
        ("decisions/0012-use-x/README.md", "# X", "ADR-0012", "X"),
    ],
)
def test_ids_and_titles(path, heading, item_id, title):
    file = parsed(path, f"{heading}\n\nText.")
    assert (file.item_id, file.title) == (item_id, title)


def test_headings_in_bold_and_fields_of_restructured_text():
    bold = parsed("doc/adr/5-x.md", "## ADR 5: X\n\n**Status**\n\nRejected\n\n**Context**\n\nIt **is** needed.\n")
    assert (bold.title, bold.status, bold.summary) == ("X", ItemStatus.REJECTED, "It is needed.")
    rest = parsed(
        "doc/adr/0008-x.rst",
        """
        =========
        ADR 8: X
        =========

        :Status: Superseded
        :Superseded-By: ADR 9

        Context
        -------

        We *like* it.

        Constraints
        -----------

        * It MUST be small.
        """,
    )
    assert (rest.item_id, rest.title, rest.summary) == ("ADR-0008", "X", "We like it.")
    assert (rest.status, rest.superseded_by) == (ItemStatus.SUPERSEDED, ("ADR-9",))
    assert rest.constraints == (Constraint("It MUST be small.", Severity.BLOCKING),)


def test_number_in_front_matter():
    file = parsed("doc/adr/use-x.md", '---\nadr: 12\ntitle: "ADR-12: Use X"\nstatus:\n- accepted\n---\nText.')
    assert (file.item_id, file.title, file.status) == ("ADR-12", "Use X", ItemStatus.ACCEPTED)


def test_record_outside_a_folder_of_records():
    assert parsed("doc/queues.md", NYGARD.format(status="Accepted").replace("12. ", "")).type is ItemType.ADR


def test_constraints_from_the_text():
    file = parsed(
        "team/adr/0001-x.md",
        """
        # X

        ## Constraints

        - Services MUST NOT share a database,
          whatever they keep in it
          - not even for a day
        - Teams SHOULD use queues
        - [blocking] Log every call
        - Teams MAY use `redis`
        - 資料庫不得共用
        1. Plain rule

        ## More

        - MUST not be read
        """,
    )
    assert file.constraints == (
        Constraint(
            "Services MUST NOT share a database, whatever they keep in it not even for a day", Severity.BLOCKING
        ),
        Constraint("Teams SHOULD use queues", Severity.WARNING),
        Constraint("Log every call", Severity.BLOCKING),
        Constraint("Teams MAY use redis", Severity.INFO),
        Constraint("資料庫不得共用", Severity.BLOCKING),
        Constraint("Plain rule", Severity.BLOCKING),
    )
    assert file.layer is Layer.TEAM


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("doc/adr/template.md", "# Title\n\nText."),
        ("doc/adr/0000-adr-template.md", "# Title\n\nText."),
        ("doc/adr/0000-x.md", "# Title\n\n* Status: [proposed | rejected | accepted]\n\nText."),
        ("doc/adr/0000-x.md", "---\nstatus: {proposed | rejected}\n---\n# Title"),
        ("doc/adr/0000-x.md", "# {short title}\n\nText."),
        ("doc/adr/0000-x.md", '---\ntitle: "{{ title }}"\n---\nText.'),
    ],
)
def test_templates_are_skipped(path, text):
    assert refused(path, text).code == "template"


@pytest.mark.parametrize(
    "path", ["README.md", "doc/adr/README.md", "doc/adr/index.md", "CONTRIBUTING.md", "LICENSE.txt"]
)
def test_files_about_a_folder_are_skipped(path):
    assert refused(path, "# Decisions\n\n- [one](0001-x.md)\n").code == "not_an_item"
    assert parsed(path, "---\nid: A\n---\n# Decisions\n").item_id == "A"


@pytest.mark.parametrize(
    ("path", "item_id", "title"),
    [
        ("0012-use-queues/index.md", "ADR-0012", "Use queues"),
        ("docs/adr/0012-use-queues/index.md", "ADR-0012", "Use queues"),
        ("use-queues/index.md", "use-queues/index", "Use queues"),
        ("decisions/use-queues/index.md", "decisions/use-queues/index", "Use queues"),
    ],
)
def test_decision_in_a_folder_of_its_own(path, item_id, title):
    file = parsed(path, f"# {title}\n\n## Status\n\nRejected\n\n## Context\n\nC.\n\n## Decision\n\nD.\n")
    assert (file.item_id, file.title, file.status, file.type) == (item_id, title, ItemStatus.REJECTED, "adr")


def test_convention_of_a_source_holds_for_an_index():
    assert parsed("queues/index.md", "# Queues\n\nWe queue.\n", Convention.PLAIN).title == "Queues"
    assert (
        parsed("queues/index.md", "---\ntitle: Queues\n---\n\nWe queue.\n", Convention.FRONT_MATTER).title == "Queues"
    )
    assert parsed("queues/index.md", "# Queues\n\nWe queue.\n", Convention.DECISION_RECORD).type == "adr"
    assert refused("adr/index.md", "# Decisions\n\nAll of them.\n", Convention.DECISION_RECORD).code == "not_an_item"
    assert refused("queues/index.md", "# Queues\n\n- [One](one.md)\n").code == "not_an_item"
    assert refused("index.md", "# Queues\n\nWe queue.\n", Convention.PLAIN).code == "not_an_item"
