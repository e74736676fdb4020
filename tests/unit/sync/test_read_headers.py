"""Header lines as in PEPs, and texts as in other series of proposals."""

import pytest

from apps.sync.domain.knowledge import Convention, ItemStatus, ItemType
from tests.unit.sync.readers import parsed, refused

PROPOSAL = """
PEP: 8123
Title: Spaces in ``names``
Author: Ana Example <ana at example.org>,
        Ben Example
Status: {status}
Type: Standards Track
Topic: Typing, Packaging
Created: 31-Jan-2024
Replaces: 8001, 8002
Superseded-By: {by}


Abstract
========

This text proposes `spaces <https://example.org>`__ in names [1]_.  It follows
:pep:`8001` and **nothing** else.

Rationale
=========

More text.
"""


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("Active", ItemStatus.ACCEPTED),
        ("Final", ItemStatus.ACCEPTED),
        ("Accepted", ItemStatus.ACCEPTED),
        ("Provisional", ItemStatus.ACCEPTED),
        ("Draft", ItemStatus.DRAFT),
        ("Deferred", ItemStatus.PROPOSED),
        ("Rejected", ItemStatus.REJECTED),
        ("Withdrawn", ItemStatus.REJECTED),
        ("Superseded", ItemStatus.SUPERSEDED),
    ],
)
def test_proposal_of_python(written, status):
    file = parsed("peps/pep-8123.rst", PROPOSAL.format(status=written, by="8200"))
    assert (file.item_id, file.type, file.title, file.status) == (
        "PEP-8123",
        ItemType.SPEC,
        "Spaces in names",
        status,
    )
    assert file.summary == "This text proposes spaces in names. It follows PEP 8001 and nothing else."
    assert (file.supersedes, file.superseded_by) == (("PEP-8001", "PEP-8002"), ("PEP-8200",))
    assert (file.tags, file.convention) == (("Typing", "Packaging"), Convention.HEADERS)
    assert {"pep-8123", "8123"} <= set(file.aliases)


def test_proposal_in_markdown():
    file = parsed("rules/x.md", "ADR: 7\nTitle: Use X\nStatus: Draft\n\n# Context\n\nIt is needed.")
    assert (file.item_id, file.title, file.summary) == ("ADR-7", "Use X", "It is needed.")
    assert (file.type, file.status) == (ItemType.ADR, ItemStatus.DRAFT)


@pytest.mark.parametrize("number", ["NNNN", "XXXX", "<REQUIRED: number>", "9xxx", ""])
def test_proposals_without_a_number(number):
    text = PROPOSAL.format(status="Draft", by="").replace("PEP: 8123", f"PEP: {number}")
    if number in {"9xxx", ""}:
        assert parsed("peps/new.rst", text).item_id == "peps/new"
    else:
        assert refused("peps/new.rst", text).code == "template"


def test_proposal_of_rust():
    file = parsed(
        "text/0195-associated-things.md",
        """
        - Feature Name: associated_things
        - Start Date: 2014-08-04
        - RFC PR: [rust-lang/rfcs#195](https://github.com/rust-lang/rfcs/pull/195)

        # Summary
        [summary]: #summary

        This extends *traits* with `things` (see [RFC 8](0008-x.md)).

        # Motivation

        They are needed.
        """,
    )
    assert (file.title, file.type, file.status) == ("Associated things", ItemType.SPEC, ItemStatus.ACCEPTED)
    assert file.summary == "This extends traits with things (see RFC 8)."


def test_number_in_a_folder_of_proposals():
    file = parsed("rfcs/0195-associated-things.md", "# Summary\n\nText.")
    assert (file.item_id, file.title, file.type) == ("RFC-0195", "Associated things", ItemType.SPEC)


def test_a_paragraph_with_a_colon_is_no_header():
    file = parsed("notes/x.md", "Remember: we deploy on Mondays.\nNever on Fridays.\n\nMore.")
    assert (file.convention, file.summary) == (
        Convention.PLAIN,
        "Remember: we deploy on Mondays. Never on Fridays.",
    )
    assert refused("notes/x.md", "Text.", Convention.HEADERS).code == "not_an_item"
