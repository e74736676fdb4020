"""Metadata lines of decision records: `* Status: accepted`, `**Date:** 2024-01-31`, `| Status | accepted |`."""

import re
from collections.abc import Mapping, Sequence

from apps.sync.domain.readers.fields import FIELD_BY_NAME, NO_FIELDS
from apps.sync.domain.readers.text import fold, word_set

LINE = re.compile(
    r"\s{0,10}(?:[-*+>]\s{1,5})?(?:\*\*|__|\*|_)?([^\W\d_][\w /&-]{0,40})"
    r"(?:\*\*|__|\*|_)?\s{0,5}[:：](?:\*\*|__|\*|_)?\s{0,10}"
)
# `:Status: accepted`, and no role such as :pep:`8`.
FIELD = re.compile(r":([^\W\d_][\w -]{0,40}):(?:\s{1,10}|$)")
ROW = re.compile(r"\s{0,10}\|\s{0,20}(?:\*\*|__)?([^|*_]{1,40})(?:\*\*|__)?\s{0,20}\|([^|]{0,2000})\|")
# What else is written beside a status. It is no prose, and is not read.
OTHERS = word_set(
    "date dates decider deciders decisionmaker decisionmakers decidedby author authors owner owners "
    "consulted informed "
    "technicalstory story ticket issue issues pr prs reviewer reviewers approver approvers "
    "approvedby updated created "
    "lastupdated lastmodified lastreviewed version discussion discussionsto startdate rfcpr rustissue related "
    "relatedto stakeholders impact driver approver contributors outcome duedate epic jira effectivedate decisiondate "
    "trackingissue implementationissue champion champions number adr rfc amends amendedby dependson "
    "requires supersede "
    "日期 作者 決策者 决策者 負責人 负责人 版本 更新 建立 相關 相关 審核者 审核者 修訂 修订"
)


def metadata_of(line: str, own: Mapping[str, str] = NO_FIELDS) -> tuple[str, str] | None:
    """Return field (empty for one that is not read) and value of a metadata line, or None for another line.

    own: which of our names folded names mean in the source.
    """
    match = (FIELD if line.startswith(":") else LINE).match(line[:3_000])
    if not match:
        return None
    name = fold(match.group(1))
    field = own.get(name) or FIELD_BY_NAME.get(name)
    if field:
        return field, line[match.end() :].strip().rstrip("\\")
    return ("", "") if name in OTHERS else None


def cells_of(line: str) -> list[str]:
    """Return the cells of a row of a table, without emphasis; none of another line."""
    bare = line[:3_000].strip()
    return [cell.strip(" \t*_") for cell in bare.strip("|").split("|")] if bare.startswith("|") else []


def columns_of(lines: Sequence[str], index: int) -> dict[str, str]:
    """Return the fields of a table whose head is at a line, such as `| Created | Status |`, of its first row."""
    head, rule, row = (cells_of(line) for line in [*lines[index : index + 3], "", "", ""][:3])
    if len(head) < 2 or len(head) != len(row) or not rule or any(cell.strip("-: ") for cell in rule):
        return {}
    return {field: value for name, value in zip(head, row, strict=True) if (field := FIELD_BY_NAME.get(fold(name)))}


def row_of(line: str) -> tuple[str, str] | None:
    """Return field and value of a row of a table with two columns, or None."""
    match = ROW.match(line[:3_000])
    if not match:
        return None
    field = FIELD_BY_NAME.get(fold(match.group(1)))
    return (field, match.group(2).strip()) if field else None
