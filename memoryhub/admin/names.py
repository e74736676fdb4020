"""What the pages of objects are called, in words: a person reads them in a heading, a tab and a history."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model
from django.template.defaultfilters import truncatechars
from django.utils.timezone import localtime

Viewer = User | AnonymousUser
NAME_CHARS = 90


def object_name(viewer: Viewer, found: Model) -> str:
    """Return the name of an object's page: the first words of what it holds, else what it is, whose and of when."""
    label = found._meta.label_lower
    if label == "semantic.conflict":
        return decision_name(found, may_read=viewer.has_perm("semantic.view_memory"))
    return NAMES[label](found) if label in NAMES else str(found)


def has_name(found: Model) -> bool:
    """Return whether an object is called otherwise than it describes itself."""
    return found._meta.label_lower in {*NAMES, "semantic.conflict"}


def decision_name(receipt: Any, *, may_read: bool) -> str:
    """Return the name of a decision. may_read: whether its viewer may see what memories say."""
    if may_read:
        return first_words(receipt.candidate.content)
    return of_when(f"{receipt.get_outcome_display()}, memories of {receipt.user_id}", receipt.at)


def first_words(text: str) -> str:
    """Return the beginning of a text in one line."""
    return truncatechars(" ".join(text[: 4 * NAME_CHARS].split()), NAME_CHARS) or "Without words"


def of_when(what: str, moment: Any) -> str:
    """Return what something is and of when, to the minute."""
    return f"{what}, {localtime(moment):%Y-%m-%d %H:%M}" if moment else what


# Model -> the name of an object of it. A model that is not here describes itself in words.
NAMES: dict[str, Callable[[Any], str]] = {
    "semantic.memory": lambda memory: first_words(memory.content),
    "semantic.ingestion": lambda row: of_when(f"Routed {row.event_type or 'event'} of {row.user_id}", row.timestamp),
    "semantic.bridgeaudit": lambda row: of_when(f"Memory of {row.user_id}: {row.get_action_display()}", row.at),
    "episodic.timelineevent": lambda event: first_words(event.content),
    "episodic.segment": lambda segment: of_when("Segment", segment.opened_at),
    "episodic.retentionpolicy": lambda policy: f"Retention of {policy.household_id or 'everybody'}: {policy.days} days",
    "notes.noteversion": lambda version: f"{version.place} of {version.user_id}, version {version.number}",
    "notes.extractionrun": lambda run: of_when(f"Extraction for {run.user_id}", run.requested_at),
    "notes.extractedfact": lambda fact: first_words(fact.content),
    "notes.compaction": lambda row: of_when(f"Compaction for {row.user_id}", row.created_at),
    "sync.knowledgeitem": lambda item: first_words(item.title),
    "sync.syncrun": lambda run: of_when(f"{run.get_kind_display()} sync of {run.source.name}", run.requested_at),
    "sync.pointerconflict": lambda conflict: f"{conflict.get_type_display()}: {conflict.item_id}",
    "llm.modelcall": lambda call: of_when(f"{call.purpose} by {call.actor}", call.started_at),
    "llm.budgetday": lambda day: f"Budget of {day.day}",
    "llm.toolrunday": lambda row: f"{row.tool} on {row.day}",
    "events.event": lambda event: of_when(event.name, event.created_at),
    "events.delivery": lambda delivery: f"{delivery.event.name} to {delivery.subscriber}",
    "rules.mergeruleversion": lambda version: f"{version.rule_name} at version {version.version}",
    "django_q.ormq": lambda task: f"Queued {task.func()}",
    "django_q.failure": lambda task: of_when(f"Failed task {task.func or task.name}", task.stopped),
}
