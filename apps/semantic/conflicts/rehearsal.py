"""Rehearse a change of a rule: what recorded decisions would become under it. Changes nothing.

Every decision is replayed twice, under the rules as they are and as they would be, and compared with its receipt: so a
difference that the change makes is distinguished from one that was there before, because the rules or the detector
changed since. A conflict that was not detected left no receipt; for that there are the pairs of near neighbours.

Edits of a rule that are not saved are rehearsed in bounded time; of them it is said which makes which difference.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.rules.domain.documents.differences import setting_changes, with_setting
from apps.rules.domain.documents.inheritance import check_resolvable
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.documents.rule import Document, rule_from_document
from apps.rules.domain.documents.validate import changed_document, drop_nulls, validate_document
from apps.rules.domain.engine.judge import opinion_in
from apps.rules.selectors import NO_SUCH_RULE, RuleSet, active_rules, is_visible, resolve_all, rule_get
from apps.semantic.conflicts.near_pairs import DEFAULT_PAIRS, NearPairs
from apps.semantic.conflicts.receipts import record_from_json
from apps.semantic.domain.rehearsal import (
    ReplayCase,
    ReplayCounts,
    ReplayedOutcome,
    removed_ids,
    replay,
    replay_case,
)
from apps.semantic.models import BY_RULES, Conflict, ConflictOutcome, Origin

DEFAULT_LIMIT, MAX_LIMIT = 500, 5_000
# Receipts read at once.
_CHUNK = 200
_COLUMNS = (
    "uuid", "origin", "state", "outcome", "rule_name", "rule", "records", "similarity", "others", "strategy",
    "confidence", "reason", "at", "result__content", "signals", "household_id",
)  # fmt: skip
EDIT_DECISIONS = 300
# Of a web process, for one answer; what is not done then is left out, and the answer says so.
SECONDS = 2.5
# Edits whose share is looked for one by one.
MAX_EDITS = 12


@dataclass(frozen=True)
class ReplayedReceipt:
    """Which recorded decision a difference is about. pk: for the admin's addresses."""

    uuid: UUID
    pk: int
    at: datetime
    origin: str
    state: str


@dataclass(frozen=True, eq=False)
class Difference:
    """A case with another outcome. before: as recorded; of a pair without a receipt, under the present rules."""

    case: ReplayCase
    before: ReplayedOutcome
    current: ReplayedOutcome
    changed: ReplayedOutcome
    receipt: ReplayedReceipt | None = None

    @property
    def is_due_to_change(self) -> bool:
        """Return whether the change makes the difference; else the present rules would decide differently, too."""
        return self.current.effect != self.changed.effect


@dataclass
class ReplayReport:
    """Counts, and the cases that would differ, the newest first. is_complete: False when a bound was reached.

    has_time_run_out: that bound was the time.
    """

    tally: ReplayCounts = field(default_factory=ReplayCounts)
    differences: list[Difference] = field(default_factory=list)
    is_complete: bool = True
    has_time_run_out: bool = False

    def add(self, difference: Difference) -> None:
        """Count a case, and keep it if it differs."""
        if self.tally.add(difference.before, difference.current, difference.changed):
            self.differences.append(difference)


@dataclass(frozen=True)
class Rehearsal:
    """What a change would do. current, changed: all rules, without and with it. neighbours: None if not requested."""

    rule: str
    current: RuleSet
    changed: RuleSet
    decisions: ReplayReport
    neighbours: ReplayReport | None

    @property
    def changed_rules(self) -> list[str]:
        """Return the rules that would differ from now: the one that is changed, and its heirs."""
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
    return replay_rules(access, name, document, scope or Scope(), limit, max_pairs if include_neighbours else None)


def rehearse_document(
    access: Access,
    document: Any,
    *,
    scope: Scope | None = None,
    limit: int = DEFAULT_LIMIT,
    include_neighbours: bool = False,
    max_pairs: int = DEFAULT_PAIRS,
    may_be_new: bool = False,
    ends_at: float | None = None,
) -> Rehearsal:
    """Replay with a whole document in the place of a rule's, as `rule_replace` would do it. See `rehearse`.

    may_be_new: there may be no rule of its name yet. ends_at: of `time.monotonic`, when to stop with what is done.
    """
    checked = validate_document(document)
    if not (may_be_new and checked["name"] not in active_rules().documents):
        rule_get(access, checked["name"])
    pairs = max_pairs if include_neighbours else None
    return replay_rules(access, checked["name"], checked, scope or Scope(), limit, pairs, ends_at)


def replay_rules(
    access: Access,
    name: str,
    document: Document | None,
    scope: Scope,
    limit: int,
    max_pairs: int | None,
    ends_at: float | None = None,
) -> Rehearsal:
    """Replay decisions, and pairs of neighbours if `max_pairs` is given, without and with a document."""
    current = active_rules()
    if document is None and name not in current.documents:
        raise NotFoundError(NO_SUCH_RULE)
    changed = current if document is None else with_document(access, current, document)
    # First of all, since it refuses a request without a user.
    neighbours = None if max_pairs is None else ReplayReport()
    if neighbours is not None and max_pairs is not None:
        pairs = NearPairs(access, scope, max_pairs)
        for case in pairs:
            now, then = replay_twice(case, current, changed)
            neighbours.add(Difference(case, now, now, then))
        neighbours.is_complete = pairs.is_complete
    decisions, limit = ReplayReport(), min(limit, MAX_LIMIT)
    for receipt in read_receipts(access, scope, limit + 1):
        if decisions.tally.replayed == limit:
            decisions.is_complete = False
            break
        if ends_at is not None and time.monotonic() > ends_at:
            decisions.is_complete, decisions.has_time_run_out = False, True
            break
        case = case_from_receipt(receipt)
        about = ReplayedReceipt(receipt.uuid, receipt.pk, receipt.at, str(receipt.origin), str(receipt.state))
        decisions.add(Difference(case, outcome_before(receipt, case), *replay_twice(case, current, changed), about))
    return Rehearsal(name, current, changed, decisions, neighbours)


def with_document(access: Access, known: RuleSet, document: Document) -> RuleSet:
    """Return the rules that there would be. Raises InvalidRuleError as saving the document would.

    The error names only rules that the caller may know of; others that would break match nothing. It cannot be known
    whose a broken rule is: those are for callers without a bound.
    """
    name = document["name"]
    visible = dict(known.documents)
    if not access.bound.is_everything:
        names = [name for name, rule in known.rules.items() if is_visible(access, rule, known)]
        visible = {name: known.documents[name] for name in names if name in known.documents}
    check_resolvable([name], visible | {name: document})
    documents = {**known.documents, name: document}
    rules, broken = resolve_all(documents)
    return replace(known, documents=documents, rules=rules, broken=broken)


def replay_twice(case: ReplayCase, current: RuleSet, changed: RuleSet) -> tuple[ReplayedOutcome, ReplayedOutcome]:
    """Replay a case under the rules as they are, and as they would be.

    All rules are considered, as when saving: the caller's key does not decide which one applies.
    """
    now, then = current.matching(case.candidate), changed.matching(case.candidate)
    outcome = replay(case, now, settings.MEMORYHUB.max_content_chars)
    # Only these parts of a rule decide; the rest says when it applies.
    if (now.detection, now.arbitration, now.merge) == (then.detection, then.arbitration, then.merge):
        return outcome, replace(outcome, rule=then.name)
    return outcome, replay(case, then, settings.MEMORYHUB.max_content_chars)


def read_receipts(access: Access, scope: Scope, limit: int) -> Iterator[Conflict]:
    """Yield the decisions of rules, the newest first; those of persons are not replayed."""
    receipts = Conflict.objects.visible_to(access, scope).filter(origin__in=BY_RULES)
    receipts = receipts.select_related("result").only(*_COLUMNS).newest_first()
    page, left = receipts, limit
    while rows := list(page[: min(left, _CHUNK)]):
        yield from rows
        left -= len(rows)
        page = receipts.filter(pk__lt=rows[-1].pk)


def case_from_receipt(receipt: Conflict) -> ReplayCase:
    """Return the case that a receipt recorded."""
    records = receipt.records
    partners: list[tuple[Mapping[str, Any], float | None]] = [(records["existing"], receipt.similarity)]
    partners += [(other["existing"], other["similarity"]) for other in receipt.others]
    case = replay_case(
        record_from_json(records["candidate"], receipt.household_id),
        [(record_from_json(record, receipt.household_id), similarity) for record, similarity in partners],
    )
    judged = [receipt.signals, *(other["signals"] for other in receipt.others)]
    return replace(case, opinions=tuple(map(opinion_in, judged)))


def outcome_before(receipt: Conflict, case: ReplayCase) -> ReplayedOutcome:
    """Return what was decided. Of a consolidation that only notices: what its rule said, as it was then."""
    candidate, existing = receipt.records["candidate"]["id"], receipt.records["existing"]["id"]
    also = [other["existing"]["id"] for other in receipt.others if other["applied"]]
    is_merged = receipt.outcome == ConflictOutcome.MERGED and receipt.result is not None
    recorded = ReplayedOutcome(
        outcome=str(receipt.outcome),
        rule=receipt.rule_name,
        existing=existing,
        removed=removed_ids(str(receipt.outcome), candidate, existing, also),
        merged=receipt.result.content if is_merged and receipt.result else None,
        strategy=receipt.strategy,
        confidence=receipt.confidence,
        reason=receipt.reason,
    )
    if receipt.origin != Origin.CONSOLIDATION or recorded.outcome != ConflictOutcome.NOTICED:
        return recorded
    try:
        rule = rule_from_document(drop_nulls(receipt.rule))
    except InvalidRuleError:
        return recorded
    return replay(case, rule, settings.MEMORYHUB.max_content_chars)


@dataclass(frozen=True)
class EditRehearsal:
    """What edits would do. due: the decisions that they change, the newest first.

    causes: path of a setting -> how many decisions it changes alone. together: how many no edit changes alone. paths:
    of a receipt, by its number: the settings that change it alone. is_explained: False when there was no time for it.
    """

    rehearsal: Rehearsal
    due: list[Difference]
    causes: Mapping[str, int] = field(default_factory=dict)
    together: int = 0
    paths: Mapping[int, list[str]] = field(default_factory=dict)
    is_explained: bool = True


def rehearse_edits(access: Access, before: Document, document: Any, *, seconds: float = SECONDS) -> EditRehearsal:
    """Replay the newest EDIT_DECISIONS with a document in the place of `before`, which is empty for a new rule.

    Raises InvalidRuleError as saving the document would.
    """
    ends_at = time.monotonic() + seconds
    rehearsal = rehearse_document(access, document, limit=EDIT_DECISIONS, may_be_new=True, ends_at=ends_at)
    due = [difference for difference in rehearsal.decisions.differences if difference.is_due_to_change]
    if not before:
        return EditRehearsal(rehearsal, due)
    return explain(access, EditRehearsal(rehearsal, due), before, document, ends_at)


def explain(
    access: Access, found: EditRehearsal, before: Document, document: Document, ends_at: float
) -> EditRehearsal:
    """Return the rehearsal with what each edit changes alone."""
    edits, current = setting_changes(before, document), found.rehearsal.current
    paths: dict[int, list[str]] = {key_of(difference): [] for difference in found.due}
    if len(edits) == 1:
        paths = {key: [edits[0].path] for key in paths}
        edits = []
    for edit in edits[:MAX_EDITS]:
        try:
            rules = with_document(access, current, with_setting(before, edit.path, edit.after))
        except InvalidRuleError:  # that edit alone cannot be
            continue
        for difference in found.due:
            if time.monotonic() > ends_at:
                return EditRehearsal(found.rehearsal, found.due, is_explained=False)
            rule = rules.matching(difference.case.candidate)
            outcome = replay(difference.case, rule, settings.MEMORYHUB.max_content_chars)
            if outcome.effect != difference.current.effect:
                paths[key_of(difference)].append(edit.path)
    causes = Counter(path for named in paths.values() for path in named)
    together = sum(not named for named in paths.values())
    return EditRehearsal(found.rehearsal, found.due, dict(causes.most_common()), together, paths)


def key_of(difference: Difference) -> int:
    """Return the number of the receipt that a difference is about."""
    return difference.receipt.pk if difference.receipt else 0
