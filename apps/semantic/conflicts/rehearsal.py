"""Rehearsing a change of a rule: what recorded decisions would come to under it. Changes nothing.

Every decision is replayed twice, under the rules as they are and as they would be, and compared with what its receipt
says: so a difference that the change makes can be told from one that was there before, because the rules or the
detector changed since. What was never noticed left no receipt; for that there are the pairs of near neighbours.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.rules.domain.documents.inheritance import check_resolvable
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.documents.rule import Document, RuleConfig, rule_from_document
from apps.rules.domain.documents.validate import drop_nulls, validate_document
from apps.rules.selectors import NO_SUCH_RULE, RuleSet, active_rules, is_visible, resolve_all, rule_get
from apps.semantic.conflicts.near_pairs import DEFAULT_PAIRS, NearPairs
from apps.semantic.conflicts.records import record_from_json
from apps.semantic.domain.rehearsal import (
    ReplayCase,
    ReplayCounts,
    ReplayedOutcome,
    changed_document,
    removed_ids,
    replay,
    replay_case,
)
from apps.semantic.models import Conflict, ConflictOutcome, Origin

DEFAULT_LIMIT, MAX_LIMIT = 500, 5_000
# Receipts read at once.
_CHUNK = 200
_COLUMNS = (
    "uuid", "origin", "state", "outcome", "rule_name", "rule", "records", "similarity", "others", "strategy",
    "confidence", "reason", "at", "result__content",
)  # fmt: skip


@dataclass(frozen=True)
class Receipt:
    """Which recorded decision a difference is about. pk: for the admin's addresses."""

    uuid: UUID
    pk: int
    at: datetime
    origin: str
    state: str


@dataclass(frozen=True, eq=False)
class Difference:
    """A case that would not come to what it did. before: as recorded; of a pair without a receipt, as things are."""

    case: ReplayCase
    before: ReplayedOutcome
    current: ReplayedOutcome
    changed: ReplayedOutcome
    receipt: Receipt | None = None

    @property
    def is_due_to_change(self) -> bool:
        """Whether the change makes the difference; else the rules as they are would decide otherwise, too."""
        return self.current.effect != self.changed.effect


@dataclass
class Replayed:
    """Counts, and the cases that would differ, the newest first. is_complete: False when a bound was reached."""

    tally: ReplayCounts = field(default_factory=ReplayCounts)
    differences: list[Difference] = field(default_factory=list)
    is_complete: bool = True

    def add(self, difference: Difference) -> None:
        """Count a case, and keep it if it differs."""
        if self.tally.add(difference.before, difference.current, difference.changed):
            self.differences.append(difference)


@dataclass(frozen=True)
class Rehearsal:
    """What a change would do. current, changed: all rules, without and with it. neighbours: None when not asked for."""

    rule: str
    current: RuleSet
    changed: RuleSet
    decisions: Replayed
    neighbours: Replayed | None

    @property
    def changed_rules(self) -> list[str]:
        """The rules that would not say what they say now: the one that is changed, and heirs of it."""
        names = sorted(self.current.rules.keys() | self.changed.rules.keys())
        return [name for name in names if self.current.rules.get(name) != self.changed.rules.get(name)]


def rehearse(
    access: Access,
    name: str,
    changes: Any = None,
    *,
    scope: Scope | None = None,
    limit: int = DEFAULT_LIMIT,
    include_neighbours: bool = False,
    max_pairs: int = DEFAULT_PAIRS,
) -> Rehearsal:
    """Replay the caller's newest `limit` decisions with changes merged into a rule, as `rule_update` would do it.

    changes: None for the rules as they are now. include_neighbours: compare the near neighbours among the active
    memories of the scope, too, which must name a user. Raises NotFoundError for a rule that the caller may not know
    of, InvalidRuleError for bad changes, InvalidInputError without a user for the neighbours.
    """
    before = rule_get(access, name)
    document = None if changes is None else changed_document(name, before, changes)
    return _rehearse(access, name, document, scope or Scope(), limit, max_pairs if include_neighbours else None)


def rehearse_document(
    access: Access,
    document: Any,
    *,
    scope: Scope | None = None,
    limit: int = DEFAULT_LIMIT,
    include_neighbours: bool = False,
    max_pairs: int = DEFAULT_PAIRS,
) -> Rehearsal:
    """The same with a whole document in the place of a rule's, as `rule_replace` would do it."""
    checked = validate_document(document)
    rule_get(access, checked["name"])
    pairs = max_pairs if include_neighbours else None
    return _rehearse(access, checked["name"], checked, scope or Scope(), limit, pairs)


def _rehearse(
    access: Access, name: str, document: Document | None, scope: Scope, limit: int, max_pairs: int | None
) -> Rehearsal:
    current = active_rules()
    if name not in current.documents:
        raise NotFoundError(NO_SUCH_RULE)
    changed = current if document is None else _with_document(access, current, document)
    replaying = _Replaying(current, changed)
    # First of all, since it says when there is no user.
    neighbours = None if max_pairs is None else _neighbours(replaying, access, scope, max_pairs)
    decisions = _decisions(replaying, access, scope, min(limit, MAX_LIMIT))
    return Rehearsal(name, current, changed, decisions, neighbours)


def _with_document(access: Access, known: RuleSet, document: Document) -> RuleSet:
    """The rules that there would be. Raises InvalidRuleError as saving the document would.

    What does not fit is told only of rules that the caller may know of; others that would break match nothing.
    """
    name = document["name"]
    visible = _visible_documents(access, known) | {name: document}
    check_resolvable([name], visible)
    documents = {**known.documents, name: document}
    rules, broken = resolve_all(documents)
    return replace(known, documents=documents, rules=rules, broken=broken)


def _visible_documents(access: Access, known: RuleSet) -> dict[str, Document]:
    """Of a rule that is broken nobody can tell whose it is: those are for callers without a bound."""
    if not access.bound.named():
        return dict(known.documents)
    visible = (name for name, rule in known.rules.items() if is_visible(access, rule, known))
    return {name: known.documents[name] for name in visible if name in known.documents}


@dataclass(frozen=True, eq=False)
class _Replaying:
    """Deciding cases under both sets of rules. All rules are asked, as when saving, whoever may know of them."""

    current: RuleSet
    changed: RuleSet

    def fates(self, case: ReplayCase) -> tuple[ReplayedOutcome, ReplayedOutcome]:
        """What a case comes to under the rules as they are, and as they would be."""
        now, then = self.current.matching(case.candidate), self.changed.matching(case.candidate)
        fate = _fate(case, now)
        return fate, replace(fate, rule=then.name) if _how(now) == _how(then) else _fate(case, then)


def _fate(case: ReplayCase, rule: RuleConfig) -> ReplayedOutcome:
    return replay(case, rule, settings.MEMORYHUB.max_content_chars)


def _how(rule: RuleConfig) -> tuple[Any, ...]:
    """The part of a rule that decides; the rest says when it is asked."""
    return rule.detection, rule.arbitration, rule.merge


def _decisions(replaying: _Replaying, access: Access, scope: Scope, limit: int) -> Replayed:
    replayed = Replayed()
    for receipt in _receipts(access, scope, limit + 1):
        if replayed.tally.replayed == limit:
            replayed.is_complete = False
            break
        case = _case_of(receipt)
        current, changed = replaying.fates(case)
        about = Receipt(receipt.uuid, receipt.pk, receipt.at, str(receipt.origin), str(receipt.state))
        replayed.add(Difference(case, _before(receipt, case), current, changed, about))
    return replayed


def _receipts(access: Access, scope: Scope, limit: int) -> Iterator[Conflict]:
    """The decisions that the engine made, the newest first: those of persons are none of its business."""
    receipts = Conflict.objects.visible_to(access, scope).filter(origin__in=(Origin.SAVE, Origin.CONSOLIDATION))
    receipts = receipts.select_related("result").only(*_COLUMNS).newest_first()
    page, left = receipts, limit
    while rows := list(page[: min(left, _CHUNK)]):
        yield from rows
        left -= len(rows)
        page = receipts.filter(pk__lt=rows[-1].pk)


def _case_of(receipt: Conflict) -> ReplayCase:
    records = receipt.records
    partners: list[tuple[Mapping[str, Any], float | None]] = [(records["existing"], receipt.similarity)]
    partners += [(other["existing"], other["similarity"]) for other in receipt.others]
    return replay_case(
        record_from_json(records["candidate"], None),
        [(record_from_json(record, None), similarity) for record, similarity in partners],
    )


def _before(receipt: Conflict, case: ReplayCase) -> ReplayedOutcome:
    """What was decided. Of a consolidation that notices whatever its rule says: what that said, as it was then."""
    recorded = recorded_outcome(receipt)
    if receipt.origin != Origin.CONSOLIDATION or recorded.outcome != ConflictOutcome.NOTICED:
        return recorded
    try:
        return _fate(case, rule_from_document(drop_nulls(receipt.rule)))
    except InvalidRuleError:
        return recorded


def recorded_outcome(receipt: Conflict) -> ReplayedOutcome:
    """What a receipt says that its decision came to."""
    candidate, existing = receipt.records["candidate"]["id"], receipt.records["existing"]["id"]
    also = [other["existing"]["id"] for other in receipt.others if other["applied"]]
    is_merged = receipt.outcome == ConflictOutcome.MERGED and receipt.result is not None
    return ReplayedOutcome(
        outcome=str(receipt.outcome),
        rule=receipt.rule_name,
        existing=existing,
        gone=removed_ids(str(receipt.outcome), candidate, existing, also),
        merged=receipt.result.content if is_merged and receipt.result else None,
        strategy=receipt.strategy,
        confidence=receipt.confidence,
        reason=receipt.reason,
    )


def _neighbours(replaying: _Replaying, access: Access, scope: Scope, max_pairs: int) -> Replayed:
    replayed = Replayed()
    pairs = NearPairs(access, scope, max_pairs)
    for case in pairs:
        current, changed = replaying.fates(case)
        replayed.add(Difference(case, current, current, changed))
    replayed.is_complete = pairs.is_complete
    return replayed
