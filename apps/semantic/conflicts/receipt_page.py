"""The context of a conflict's page, made from its receipt: see templates/semantic/conflict.html."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext

from apps.core.admin.kit import NOTHING, Described, choice_badge, link, moment, pretty_json
from apps.core.domain.origin import WriteOrigin
from apps.core.pages.origins import WORDS as ORIGINS
from apps.core.pages.sayings import say
from apps.rules.selectors import MergeRuleVersion
from apps.semantic.conflicts.review import Winner, can_revert, decisions_undone
from apps.semantic.domain.receipt_words import OUTCOMES, SignalWords, signal_words
from apps.semantic.domain.state import MemoryState, Transition
from apps.semantic.domain.word_diff import differences, provenance
from apps.semantic.models import Conflict, ConflictOutcome, Memory, Origin, ReviewState

OUTCOME_COLOURS = {
    "noticed": "warning", "superseded_existing": "info", "kept_existing": "info", "merged": "primary",
    "rejected": "danger", "kept_both": "success", "reverted": None,
}  # fmt: skip
STATUS_COLOURS = {
    "active": "success", "superseded": "warning", "merged": "info", "rejected": "danger", "deleted": "danger",
}  # fmt: skip
STATE_COLOURS = {"open": "warning", "accepted": "success", "overridden": None, "reverted": None, "outdated": None}
# The winners with which an override of an outcome would change nothing.
WITHOUT_EFFECT = {
    ConflictOutcome.NOTICED: Winner.BOTH,
    ConflictOutcome.KEPT_BOTH: Winner.BOTH,
    ConflictOutcome.SUPERSEDED_EXISTING: Winner.CANDIDATE,
    ConflictOutcome.KEPT_EXISTING: Winner.EXISTING,
}
SHOWN_CONTENT_CHARS, SHOWN_EXCERPT_CHARS = 240, 160
MAX_CHAIN = 50
Rows = Mapping[UUID, Memory]


class MemoryNames:
    """The names of memories in sentences: their part in the receipt, and an excerpt for those who may read it."""

    def __init__(self, receipt: Conflict, rows: Rows, *, may_read: bool) -> None:
        self.excerpts = rows if may_read else {}
        self.parts = {
            receipt.candidate.uuid: gettext("the candidate"),
            receipt.existing.uuid: gettext("the existing memory"),
        }
        if receipt.outcome == ConflictOutcome.MERGED and receipt.result is not None:
            self.parts.setdefault(receipt.result.uuid, gettext("the merged memory"))

    def name(self, uuid: UUID) -> str:
        """Return the name of a memory, in the middle of a sentence."""
        part = self.parts.get(uuid) or gettext("the memory %(id)s") % {"id": uuid}
        if uuid not in self.excerpts:
            return part
        excerpt = truncatechars(self.excerpts[uuid].content, SHOWN_EXCERPT_CHARS)
        return gettext("%(part)s “%(excerpt)s”") % {"part": part, "excerpt": excerpt}

    def sentence(self, uuid: UUID, template: str, **values: str) -> str:
        """Return a sentence about a memory. template: with its name as `memory`, and the other values."""
        words = template % {"memory": self.name(uuid), **values}
        return f"{words[0].upper()}{words[1:]}"


def label_receipt(receipt: Conflict) -> str:
    """Return what was decided, when, and whose memories it was about; without their contents."""
    words = {"outcome": receipt.get_outcome_display(), "at": moment(receipt.at), "user": receipt.user_id}
    return gettext("%(outcome)s, %(at)s, user %(user)s") % words


def describe_for_revert(receipt: Conflict, *, may_read: bool) -> Described:
    """Describe a decision in the question whether to revert it: a link, both contents, and what a revert does."""
    sides = ((gettext("Candidate"), receipt.candidate), (gettext("Existing"), receipt.existing)) if may_read else ()
    contents = [f"{side}: {truncatechars(memory.content, SHOWN_CONTENT_CHARS)}" for side, memory in sides]
    title = link("admin:semantic_conflict_change", receipt.pk, label_receipt(receipt))
    return Described(title, [*contents, *describe_consequences(receipt, "revert", may_read=may_read)])


def receipt_context(receipt: Conflict, *, may_read: bool, rows: Rows | None = None) -> dict[str, Any]:
    """Return the parts of the page. may_read: whether the user may see contents of memories. rows: of `memories_of`."""
    rows = memories_of(receipt) if rows is None else rows
    return {
        "receipt": receipt,
        "strategy": say(receipt.strategy),
        "reason": say(receipt.reason),
        "may_read": may_read,
        "summary": say(OUTCOMES.get(receipt.outcome, receipt.outcome)),
        "outcome": choice_badge(receipt, "outcome", OUTCOME_COLOURS),
        "state": choice_badge(receipt, "state", STATE_COLOURS),
        "sides": sides_of(receipt),
        "result": result_of(receipt),
        "signals": [spoken(signal) for signal in receipt.signals],
        "facts": facts_of(receipt),
        "rule_url": rule_url(receipt),
        "rule": pretty_json(receipt.rule),
        "others": others_of(receipt, rows),
        "transitions": changes_of(receipt, rows),
        "chain": chain_of(receipt),
        "merge": receipt.merge,
    }


def allowed_steps(receipt: Conflict) -> set[str]:
    """Return what a person can do about a receipt: accept, revert, and the winners to override it with."""
    if not receipt.is_in_force:
        return set()
    steps = {"accept"} if receipt.state == ReviewState.OPEN else set()
    if can_revert(receipt):
        steps.add("revert")
    if receipt.origin != Origin.REVERT:
        idle = WITHOUT_EFFECT.get(ConflictOutcome(receipt.outcome))
        steps |= {winner.value for winner in Winner if winner is not idle}
    return steps


def describe_consequences(receipt: Conflict, step: str, *, may_read: bool, rows: Rows | None = None) -> list[str]:
    """Return what a step would do, a sentence for each effect, and a warning where it may be refused.

    rows: what `memories_of` returned for the receipt, where it was called already.
    """
    if step == "accept":
        return [
            gettext("The memories do not change."),
            gettext("The decision leaves the queue. It can still be overridden or reverted."),
        ]
    rows = memories_of(receipt) if rows is None else rows
    names = MemoryNames(receipt, rows, may_read=may_read)
    if step == "revert":
        sentences = describe_revert(receipt, names)
    else:
        sentences = describe_override(receipt, Winner(step), rows, names)
    changed = [names.name(one.memory) for one in steps_of(receipt) if has_changed_since(one, rows)]
    if changed:
        sentences.append(
            gettext("Changed since the decision: %(memories)s. If that prevents this step, the reason is shown.")
            % {"memories": ", ".join(changed)}
        )
    return [*sentences, gettext("This leaves a receipt of its own, which can be reverted.")]


def describe_revert(receipt: Conflict, names: MemoryNames) -> list[str]:
    """Return what a revert would do to each memory, and to the receipt that this one answers."""
    sentences = []
    for step in transitions_of(receipt):
        if step.details:
            sentences.append(details_sentence(step, names))
        elif step.before is None:
            sentences.append(names.sentence(step.memory, gettext("%(memory)s is deleted, and can be restored.")))
        else:
            words = gettext("%(memory)s is %(status)s again, exactly as before.")
            sentences.append(names.sentence(step.memory, words, status=say(step.before.status)))
    if receipt.about is not None:
        words = gettext("The receipt that this one answers is %(state)s again.")
        sentences.append(words % {"state": say(receipt.about_state)})
    return sentences


def describe_override(receipt: Conflict, winner: Winner, rows: Rows, names: MemoryNames) -> list[str]:
    """Return what an override would do to both memories and to all that the overridden decisions changed."""
    sides = {Winner.CANDIDATE: receipt.candidate.uuid, Winner.EXISTING: receipt.existing.uuid}
    sentences = [
        names.sentence(
            uuid,
            gettext("%(memory)s is active.") if winner in {side, Winner.BOTH} else gettext("%(memory)s is superseded."),
        )
        for side, uuid in sides.items()
    ]
    superseded_too = {UUID(one["existing"]["id"]) for one in receipt.others if one.get("applied")}
    states_before = {
        step.memory: step.before
        for one in decisions_undone(receipt)
        for step in steps_of(one)
        if step.memory not in sides.values()
    }
    for uuid, before in states_before.items():
        status = rows[uuid].status if uuid in rows else ""
        if before is None:
            if status != "deleted":
                sentences.append(names.sentence(uuid, gettext("%(memory)s is deleted, and can be restored.")))
        elif uuid in superseded_too and winner is Winner.CANDIDATE:
            sentences.append(names.sentence(uuid, gettext("%(memory)s is superseded by the candidate.")))
        elif status != before.status:
            words = gettext("%(memory)s is %(status)s again.")
            sentences.append(names.sentence(uuid, words, status=say(before.status)))
    return [*sentences, *(details_sentence(step, names) for step in transitions_of(receipt) if step.details)]


def details_sentence(step: Transition, names: MemoryNames) -> str:
    """Return which details of a memory would be taken back."""
    words = gettext("%(memory)s has its own %(details)s again, except for what was added since.")
    return names.sentence(step.memory, words, details=details_of(step))


def transitions_of(receipt: Conflict) -> list[Transition]:
    """Return what the decision changed about each memory."""
    return [Transition.from_json(data) for data in receipt.transitions]


def steps_of(receipt: Conflict) -> list[Transition]:
    """Return the changes of states among those."""
    return [step for step in transitions_of(receipt) if not step.details]


def details_of(step: Transition) -> str:
    """Return which details of a memory a decision changed, in words."""
    return ", ".join(gettext(name.removesuffix("_id").replace("_", " ")) for name in sorted(step.details))


def memories_of(receipt: Conflict) -> dict[UUID, Memory]:
    """Return all memories that the receipt, or a decision that it overrides, names, by id."""
    wanted = {step.memory for one in decisions_undone(receipt) for step in transitions_of(one)}
    wanted |= {UUID(one["existing"]["id"]) for one in receipt.others}
    wanted |= {one.uuid for one in (receipt.candidate, receipt.existing, receipt.result) if one}
    rows = Memory.objects.filter(uuid__in=wanted).defer("lexemes").select_related("superseded_by")
    return {row.uuid: row for row in rows}


def has_changed_since(step: Transition, rows: Rows) -> bool:
    """Return whether a memory is in another state now than after the decision."""
    memory = rows.get(step.memory)
    if memory is None:
        return False
    winner = memory.superseded_by.uuid if memory.superseded_by else None
    return not MemoryState(str(memory.status), winner).has_same_status(step.after)


def memory_card(memory: Memory) -> dict[str, Any]:
    """Return the current status of a memory, and the address of its page."""
    return {
        "status": choice_badge(memory, "status", STATUS_COLOURS),
        "url": reverse("admin:semantic_memory_change", args=[memory.pk]),
        "id": memory.uuid,
    }


def sides_of(receipt: Conflict) -> list[dict[str, Any]]:
    """Return the two memories as they were at the decision, with the words marked that differ."""
    sides = []
    records = receipt.records
    marked = differences(records["candidate"]["content"], records["existing"]["content"])
    for name, memory, pieces in zip(
        ("candidate", "existing"), (receipt.candidate, receipt.existing), marked, strict=True
    ):
        record = records[name]
        facts = [
            (gettext("Time"), moment(datetime.fromisoformat(record["timestamp"]))),
            (gettext("Source"), record["source"]),
            (gettext("Comes from"), str(ORIGINS[record.get("origin", WriteOrigin.APP)])),
            (gettext("Importance"), f"{record['importance']:g}"),
            (gettext("Confidence claimed"), f"{memory.base_confidence:g}"),
        ]
        keywords = ", ".join(record["keywords"])
        card = {"side": name, "name": say(name.capitalize()), "pieces": pieces, "facts": facts, "keywords": keywords}
        sides.append({**card, **memory_card(memory)})
    return sides


def spoken(signal: Mapping[str, Any]) -> SignalWords:
    """Return a signal in the language of the reader."""
    words = signal_words(signal)
    passages = tuple((say(name), text) for name, text in words.passages)
    return replace(words, label=say(words.label), sentence=say(words.sentence), passages=passages)


def result_of(receipt: Conflict) -> dict[str, Any] | None:
    """Return the merged memory, with the origin of its words; None without a merge."""
    merged = receipt.result
    if receipt.outcome != ConflictOutcome.MERGED or merged is None:
        return None
    sources = [receipt.records[side]["content"] for side in ("candidate", "existing")]
    return {"pieces": provenance(merged.content, *sources), **memory_card(merged)}


def facts_of(receipt: Conflict) -> list[tuple[str, str]]:
    """Return names and values of the receipt itself."""
    facts = [
        (gettext("Decided"), at_by(receipt.at, receipt.actor)),
        (gettext("Origin"), receipt.get_origin_display()),
        (gettext("User"), receipt.user_id),
        (gettext("Household"), receipt.household_id),
        (gettext("Persona"), receipt.persona_id),
        (gettext("Total score of the signals"), f"{receipt.total_score:.2f}"),
        (gettext("Cosine"), NOTHING if receipt.similarity is None else f"{receipt.similarity:.3f}"),
        (gettext("Reviewed"), at_by(receipt.reviewed_at, receipt.reviewed_by) if receipt.reviewed_at else ""),
        (gettext("Id"), str(receipt.uuid)),
    ]
    return [(name, value) for name, value in facts if value]


def at_by(at: datetime, actor: str) -> str:
    """Return when something was done, and who did it."""
    return gettext("%(at)s by %(actor)s") % {"at": moment(at), "actor": actor}


def rule_url(receipt: Conflict) -> str:
    """Return the page of the rule as it was, or of its changes where that has no page; empty without a rule."""
    change = MergeRuleVersion.objects.filter(version=receipt.rule_version, rule_name=receipt.rule_name).first()
    if change is not None:
        return reverse("admin:rules_mergeruleversion_change", args=[change.pk])
    return f"{reverse('admin:rules_mergeruleversion_changelist')}?q={receipt.rule_name}" if receipt.rule_name else ""


def others_of(receipt: Conflict, rows: Rows) -> list[dict[str, Any]]:
    """Return the further conflicts of the same candidate."""
    others = []
    for one in receipt.others:
        memory = rows.get(UUID(one["existing"]["id"]))
        others.append(
            {
                "content": one["existing"]["content"],
                "signals": [spoken(signal) for signal in one["signals"]],
                "reason": say(one["reason"]),
                "applied": one.get("applied", False),
                "memory": memory_card(memory) if memory else None,
            }
        )
    return others


def changes_of(receipt: Conflict, rows: Rows) -> list[dict[str, Any]]:
    """Return what the decision changed: status before, after and, if it has changed since, now; names of details."""
    names, changes = MemoryNames(receipt, rows, may_read=False), []
    for step in transitions_of(receipt):
        memory = rows.get(step.memory)
        before = say(step.before.status if step.before else "did not exist")
        if step.details:
            before = gettext("its own %(details)s") % {"details": details_of(step)}
        changes.append(
            {
                "name": capfirst(names.name(step.memory)),
                "before": before,
                "after": gettext("changed, see its history") if step.details else say(step.after.status),
                "has_changed": not step.details and has_changed_since(step, rows),
                "memory": memory_card(memory) if memory else None,
            }
        )
    return changes


def chain_of(receipt: Conflict) -> list[dict[str, Any]]:
    """Return the receipt with those that it answers and those that answer it, oldest first; empty if it is alone."""
    known = edge = {receipt.uuid}
    while edge and len(known) < MAX_CHAIN:
        below = Conflict.objects.filter(about__uuid__in=edge).values_list("uuid", flat=True)
        above = Conflict.objects.filter(answers__uuid__in=edge).values_list("uuid", flat=True)
        edge = {*below[:MAX_CHAIN], *above} - known
        known = known | edge
    if len(known) == 1:
        return []
    return [
        {
            "url": reverse("admin:semantic_conflict_change", args=[one.pk]),
            "is_this": one.pk == receipt.pk,
            "what": gettext("%(origin)s: %(outcome)s")
            % {"origin": one.get_origin_display(), "outcome": one.get_outcome_display().lower()},
            "when": at_by(one.at, one.actor),
            "state": choice_badge(one, "state", STATE_COLOURS),
        }
        for one in Conflict.objects.filter(uuid__in=known).order_by("id")[:MAX_CHAIN]
    ]
