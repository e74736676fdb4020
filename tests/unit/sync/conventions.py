"""Two hundred documents in ten public conventions, twenty of each, with the status that a reader of each would name.

The words of statuses are those that the conventions and their users have; the texts are made up.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from apps.sync.domain.knowledge import ItemStatus

DRAFT, PROPOSED, ACCEPTED, DEPRECATED, SUPERSEDED, REJECTED, UNKNOWN = ItemStatus


@dataclass(frozen=True)
class Written:
    """A document: its convention, path and text, and the status that it says."""

    convention: str
    path: str
    text: str
    status: ItemStatus


BODY = "## Context and Problem Statement\n\nWhere is tea kept?\n\n## Decision Outcome\n\nIn the pantry.\n"
PARTS = "## Context\n\nTea gets wet.\n\n## Decision\n\nWe keep it in tins.\n\n## Consequences\n\nDry tea.\n"
Case = tuple[str, ItemStatus]


def madr_2(number: int, status: str) -> tuple[str, str]:
    """Write a record with a list of metadata below the title."""
    mark = "*" if number % 2 else "-"
    lines = [f"{mark} Status: {status}", f"{mark} Deciders: Ana, Ben", f"{mark} Date: 2024-0{number % 9 + 1}-11"]
    if number % 4 == 3:
        lines = [lines[1], lines[2], lines[0]]
    return f"docs/adr/{number:04}-tea.md", "\n".join(["# Keep tea", "", *lines, "", BODY])


def madr_3(number: int, status: str) -> tuple[str, str]:
    """Write a record with front matter, of which comments explain the fields."""
    head = f"# These are optional elements.\nstatus: {status}\ndate: 2024-03-11\ndeciders: Ana, Ben\nconsulted: Cleo\n"
    return f"doc/decisions/{number:04}-tea.md", f"---\n{head}---\n# Keep tea\n\n{BODY}"


def madr_4(number: int, status: str) -> tuple[str, str]:
    """Write a record with front matter and the fields of later versions."""
    quoted = status if status.startswith('"') else f'"{status}"'
    head = f"status: {quoted}\ndate: 2025-03-11\ndecision-makers: [Ana, Ben]\ninformed: Cleo\n"
    return f"docs/decisions/{number:04}-tea.md", f"---\n{head}---\n\n# Keep tea\n\n{BODY}"


def nygard(number: int, status: str) -> tuple[str, str]:
    """Write a record with a section for the status."""
    heading = ("## Status", "## Status\n", "Status\n------\n")[number % 3]
    return f"doc/adr/{number:04}-tea.md", f"# {number}. Keep tea\n\nDate: 2024-03-11\n\n{heading}\n{status}\n\n{PARTS}"


def rfc(number: int, status: str) -> tuple[str, str]:
    """Write a request for comments with header lines, or with the columns of the IETF."""
    if number % 4 == 1 and status in IETF:
        left = f"Request for Comments: {number}".ljust(60)
        head = f"{'Tea Working Group'.ljust(60)}A. Example\n{left}Tea House\nCategory: {status.ljust(50)}March 2024\n"
        return (
            f"rfc/rfc{number}.txt",
            f"{head}\n\n                 Keeping Tea Dry\n\nAbstract\n\n   Tea is kept dry.\n",
        )
    more = "Obsoletes: 3\n" if number % 5 == 2 else ""
    return f"rfcs/{number:04}-tea.md", f"RFC: {number}\nTitle: Keep tea\nStatus: {status}\n{more}\n# Summary\n\nTins.\n"


def bip(number: int, status: str) -> tuple[str, str]:
    """Write a proposal whose header lines are in `<pre>` or in a fence."""
    head = f"  BIP: {number}\n  Layer: Applications\n  Title: Keep tea\n  Author: Ana <ana@example.org>\n"
    head += f"  Comments-Summary: No comments yet.\n  Status: {status}\n  Type: Informational\n  Created: 2024-03-11\n"
    if number % 2:
        return f"bip-{number:04}.mediawiki", f"<pre>\n{head}</pre>\n\n==Abstract==\n\nTea in '''tins'''.\n"
    return f"bip-{number:04}.md", f"```\n{head}```\n\n## Abstract\n\nTea in tins.\n"


def pep(number: int, status: str) -> tuple[str, str]:
    """Write a proposal with header lines, open or in a fence."""
    head = f"PEP: {number}\nTitle: Keep tea\nAuthor: Ana <ana at example.org>,\n        Ben\nStatus: {status}\n"
    head += "Type: Standards Track\nCreated: 11-Mar-2024\n"
    if number % 3 == 0:
        return f"peps/pep-{number:04}.md", f"# PEP {number}: Keep tea\n\n```text\n{head}```\n\n## Abstract\n\nTins.\n"
    return f"peps/pep-{number:04}.rst", f"{head}\n\nAbstract\n========\n\nTea in tins.\n"


def fields(number: int, status: str) -> tuple[str, str]:
    """Write a reStructuredText with a list of fields, in folders of any name."""
    folder = ("design", "docs/notes", "enhancements", "adr")[number % 4]
    head = f":Author: Ana\n:Status: {status}\n:Date: 2024-03-11\n"
    title = "Keep tea\n========\n"
    text = f"{head}\n{title}\nTea in tins.\n" if number % 5 == 0 else f"{title}\n{head}\nTea in tins.\n"
    return f"{folder}/tea-{number}.rst", text


def kep(number: int, status: str) -> tuple[str, str]:
    """Write the metadata of an enhancement, alone or as front matter."""
    head = f'title: Keep tea\nkep-number: {number}\nauthors:\n  - "@ana"\nowning-sig: sig-tea\nstatus: {status}\n'
    head += 'creation-date: 2024-03-11\nsee-also:\n  - "/keps/sig-tea/1-x"\nstage: alpha\nmilestone:\n  alpha: "v1"\n'
    if number % 3 == 0:
        return f"keps/sig-tea/{number:04}-tea.md", f"---\n{head}---\n\n# Keep tea\n\n## Summary\n\nTins.\n"
    return f"keps/sig-tea/{number}-tea/kep.yaml", head


def backstage(number: int, status: str) -> tuple[str, str]:
    """Write a record with an id and a title in front matter, and its status in a table, a line, or nowhere."""
    head = (
        f"---\nid: adrs-adr{number:03}\ntitle: 'ADR{number:03}: Keep tea'\n# prettier-ignore\ndescription: Tea\n---\n\n"
    )
    if not status:
        said = ""
    elif number % 3 == 0:
        said = f"| Created    | Status |\n| ---------- | ------ |\n| 2024-03-11 | {status} |\n\n"
    elif number % 3 == 1:
        said = f"## Status\n\n{status}\n\n"
    else:
        said = f"**Status:** {status}\n\n"
    return f"docs/architecture-decisions/adr{number:03}-tea.md", f"{head}{said}{PARTS}"


def log4brains(number: int, status: str) -> tuple[str, str]:
    """Write a record whose date is in the name of its file."""
    text = f"# Keep tea\n\n- Status: {status}\n- Date: 2024-03-{number % 28 + 1:02}\n- Tags: tea\n\n{BODY}"
    return f"docs/adr/202403{number % 28 + 1:02}-keep-tea-{number}.md", text


IETF = frozenset({"Standards Track", "Informational", "Best Current Practice", "Historic"})
MADR: list[Case] = [
    ("accepted", ACCEPTED), ("proposed", PROPOSED), ("rejected", REJECTED), ("deprecated", DEPRECATED),
    ("superseded by ADR-0005", SUPERSEDED), ("superseded by [ADR-0005](0005-example.md)", SUPERSEDED),
    ("Accepted", ACCEPTED), ("draft", DRAFT),
]  # fmt: skip
CASES: dict[str, tuple[Callable[[int, str], tuple[str, str]], list[Case]]] = {
    "MADR 2": (madr_2, [
        *MADR, ("accepted (replaces ADR-0002)", ACCEPTED), ("**accepted**", ACCEPTED), ("Approved", ACCEPTED),
        ("pending", PROPOSED), ("superceded by [0007](0007-x.md)", SUPERSEDED), ("declined", REJECTED),
        ("obsolete", DEPRECATED), ("✅ Accepted", ACCEPTED), ("in discussion", PROPOSED),
        ("retired in 2025", DEPRECATED),
        ("mostly harmless", UNKNOWN), ("WIP", DRAFT),
    ]),
    "MADR 3 and 4": (madr_3, [
        *MADR[:6], ("accepted # by all", ACCEPTED), ("on hold", PROPOSED), ("discontinued", DEPRECATED),
        ("in production", ACCEPTED),
    ]),
    "MADR 4": (madr_4, [
        *MADR[:6], ("superseded by ADR-0123", SUPERSEDED), ("withdrawn", REJECTED), ("sunset", DEPRECATED),
        ("frobnicated", UNKNOWN),
    ]),
    "Nygard": (nygard, [
        ("Accepted", ACCEPTED), ("Proposed", PROPOSED), ("Deprecated", DEPRECATED), ("Rejected", REJECTED),
        ("Superseded by [5. Tins](0005-tins.md)", SUPERSEDED), ("Accepted\n\nAmended by [6. X](0006-x.md)", ACCEPTED),
        ("Accepted\n\nSupersedes [2. Y](0002-y.md)", ACCEPTED), ("**Accepted**", ACCEPTED),
        ("**Deprecated**", DEPRECATED),
        ("Accepted on 2024-03-11 by the team.", ACCEPTED), ("Superceded by [7. Z](0007-z.md)", SUPERSEDED),
        ("Accepted\n\nDeprecated by [8. W](0008-w.md)", DEPRECATED), ("Pending", PROPOSED), ("Draft", DRAFT),
        ("2024-03-01: proposed\n2024-03-11: accepted", ACCEPTED), ("- [ ] Proposed\n- [x] Accepted", ACCEPTED),
        ("No longer accepted", DEPRECATED), ("Not yet accepted", PROPOSED), ("~~Proposed~~ Accepted", ACCEPTED),
        ("Under review", PROPOSED),
    ]),
    "RFC headers": (rfc, [
        ("Standards Track", ACCEPTED), ("Accepted", ACCEPTED), ("Draft", DRAFT), ("Rejected", REJECTED),
        ("Informational", ACCEPTED), ("Withdrawn", REJECTED), ("Implemented", ACCEPTED), ("In Review", PROPOSED),
        ("Best Current Practice", ACCEPTED), ("Obsolete", DEPRECATED), ("Postponed", PROPOSED), ("Active", ACCEPTED),
        ("Historic", DEPRECATED), ("Final comment period", PROPOSED), ("Merged", ACCEPTED), ("Abandoned", REJECTED),
        ("Internet Standard", ACCEPTED), ("Superseded by RFC 12", SUPERSEDED), ("Last Call", PROPOSED),
        ("Sideways", UNKNOWN),
    ]),
    "BIP": (bip, [
        ("Final", ACCEPTED), ("Draft", DRAFT), ("Deployed", ACCEPTED), ("Closed", DEPRECATED), ("Complete", ACCEPTED),
        ("Rejected", REJECTED), ("Withdrawn", REJECTED), ("Obsolete", DEPRECATED), ("Replaced", SUPERSEDED),
        ("Active", ACCEPTED), ("Proposed", PROPOSED), ("Deferred", PROPOSED), ("Final", ACCEPTED), ("Draft", DRAFT),
        ("Deployed", ACCEPTED), ("Closed", DEPRECATED), ("Complete", ACCEPTED), ("Rejected", REJECTED),
        ("Obsolete", DEPRECATED), ("Gone fishing", UNKNOWN),
    ]),
    "PEP": (pep, [
        ("Final", ACCEPTED), ("Active", ACCEPTED), ("Draft", DRAFT), ("Accepted", ACCEPTED), ("Provisional", ACCEPTED),
        ("Deferred", PROPOSED), ("Rejected", REJECTED), ("Withdrawn", REJECTED), ("Superseded", SUPERSEDED),
        ("April Fool!", REJECTED), ("Final", ACCEPTED), ("Active", ACCEPTED), ("Draft", DRAFT), ("Accepted", ACCEPTED),
        ("Deferred", PROPOSED), ("Rejected", REJECTED), ("Withdrawn", REJECTED), ("Superseded", SUPERSEDED),
        ("Incomplete", DRAFT), ("Moonlit", UNKNOWN),
    ]),
    "reST fields": (fields, [
        ("Draft", DRAFT), ("Accepted", ACCEPTED), ("Final", ACCEPTED), ("Proposed", PROPOSED), ("Rejected", REJECTED),
        ("Deprecated", DEPRECATED), ("Superseded by :doc:`tea-9`", SUPERSEDED), ("Implemented", ACCEPTED),
        ("Withdrawn", REJECTED), ("In progress", DRAFT), ("Obsolete", DEPRECATED), ("Approved", ACCEPTED),
        ("Under discussion", PROPOSED), ("Deferred", PROPOSED), ("Active", ACCEPTED), ("Abandoned", REJECTED),
        ("Replaced", SUPERSEDED), ("Retired", DEPRECATED), ("Complete", ACCEPTED), ("Wobbly", UNKNOWN),
    ]),
    "KEP": (kep, [
        ("provisional", PROPOSED), ("implementable", ACCEPTED), ("implemented", ACCEPTED), ("deferred", PROPOSED),
        ("rejected", REJECTED), ("withdrawn", REJECTED), ("replaced", SUPERSEDED), ("provisional", PROPOSED),
        ("implementable", ACCEPTED), ("implemented", ACCEPTED), ("deferred", PROPOSED), ("rejected", REJECTED),
        ("withdrawn", REJECTED), ("replaced", SUPERSEDED), ("draft", DRAFT), ("removed", DEPRECATED),
        ("implemented", ACCEPTED), ("implementable", ACCEPTED), ("provisional", PROPOSED), ("unheard-of", UNKNOWN),
    ]),
    "Backstage": (backstage, [
        ("", ACCEPTED), ("Accepted", ACCEPTED), ("Superseded by ADR009", SUPERSEDED), ("Open", PROPOSED),
        ("Deprecated", DEPRECATED), ("Rejected", REJECTED), ("", ACCEPTED), ("Proposed", PROPOSED),
        ("Accepted", ACCEPTED), ("Draft", DRAFT), ("Adopted", ACCEPTED), ("Withdrawn", REJECTED), ("", ACCEPTED),
        ("Archived", DEPRECATED),
        ("Decided", ACCEPTED), ("Superseded by [ADR012](adr012-x.md)", SUPERSEDED), ("Obsolete", DEPRECATED),
        ("In review", PROPOSED), ("Published", ACCEPTED), ("Purple", UNKNOWN),
    ]),
    "log4brains": (log4brains, [
        ("draft", DRAFT), ("proposed", PROPOSED), ("rejected", REJECTED), ("accepted", ACCEPTED),
        ("deprecated", DEPRECATED), ("superseded by [20240309-x](20240309-x.md)", SUPERSEDED), ("accepted", ACCEPTED),
        ("proposed", PROPOSED), ("draft", DRAFT), ("superseded by [20240310-y](20240310-y.md)", SUPERSEDED),
        ("rejected", REJECTED), ("deprecated", DEPRECATED), ("accepted", ACCEPTED), ("accepted", ACCEPTED),
        ("superseded by 20240311-z", SUPERSEDED), ("proposed", PROPOSED), ("deprecated", DEPRECATED),
        ("rejected", REJECTED), ("accepted", ACCEPTED), ("upside down", UNKNOWN),
    ]),
}  # fmt: skip


def documents() -> Iterator[Written]:
    """Yield the documents."""
    for convention, (write, cases) in CASES.items():
        for number, (words, status) in enumerate(cases, start=1):
            yield Written(convention, *write(number, words), status)
