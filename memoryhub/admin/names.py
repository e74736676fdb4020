"""What the pages of objects are called, in words: a person reads them in a heading, a tab and a history."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model
from django.utils.timezone import localtime
from django.utils.translation import gettext

from apps.core.pages.texts import first_words

Viewer = User | AnonymousUser


def object_name(viewer: Viewer, found: Model) -> str:
    """Return the name of an object's page: the first words of what it holds, else what it is, whose and of when."""
    label = found._meta.label_lower
    # What memories say is only for those who may read them.
    if label == "semantic.conflict" and viewer.has_perm("semantic.view_memory"):
        receipt: Any = found
        return text_name(receipt.candidate.content)
    return NAMES[label](found) if label in NAMES else str(found)


def text_name(text: str) -> str:
    """Return the beginning of a text in one line, as a name also where it has no words."""
    return first_words(text) or gettext("Without words")


def of_when(what: str, moment: Any) -> str:
    """Return what something is and of when, to the minute."""
    if not moment:
        return what
    return gettext("%(what)s, %(time)s") % {"what": what, "time": f"{localtime(moment):%Y-%m-%d %H:%M}"}


# Model -> the name of an object of it. A model that is not here describes itself in words.
NAMES: dict[str, Callable[[Any], str]] = {
    "semantic.conflict": lambda receipt: of_when(
        gettext("%(outcome)s, memories of %(user)s")
        % {"outcome": receipt.get_outcome_display(), "user": receipt.user_id},
        receipt.at,
    ),
    "semantic.memory": lambda memory: text_name(memory.content),
    "semantic.ingestion": lambda row: of_when(
        gettext("Routed %(type)s of %(user)s") % {"type": row.event_type or gettext("event"), "user": row.user_id},
        row.timestamp,
    ),
    "semantic.bridgeaudit": lambda row: of_when(
        gettext("Memory of %(user)s: %(action)s") % {"user": row.user_id, "action": row.get_action_display()}, row.at
    ),
    "episodic.timelineevent": lambda event: text_name(event.content),
    "episodic.segment": lambda segment: of_when(gettext("Segment"), segment.opened_at),
    "episodic.retentionpolicy": lambda policy: (
        gettext("Retention of %(whose)s: %(days)s days")
        % {"whose": policy.household_id or gettext("everybody"), "days": policy.days}
    ),
    "notes.noteversion": lambda version: (
        gettext("%(place)s of %(user)s, version %(number)s")
        % {"place": version.place, "user": version.user_id, "number": version.number}
    ),
    "notes.extractionrun": lambda run: of_when(
        gettext("Extraction for %(user)s") % {"user": run.user_id}, run.requested_at
    ),
    "notes.extractedfact": lambda fact: text_name(fact.content),
    "notes.compaction": lambda row: of_when(gettext("Compaction for %(user)s") % {"user": row.user_id}, row.created_at),
    "sync.knowledgeitem": lambda item: text_name(item.title),
    "sync.syncrun": lambda run: of_when(
        gettext("%(kind)s sync of %(source)s") % {"kind": run.get_kind_display(), "source": run.source.name},
        run.requested_at,
    ),
    "semantic.judge": lambda _judge: gettext("The judge"),
    "sync.pointerconflict": lambda conflict: f"{conflict.get_type_display()}: {conflict.item_id}",
    "llm.modelcall": lambda call: of_when(
        gettext("%(purpose)s by %(actor)s") % {"purpose": call.purpose, "actor": call.actor}, call.started_at
    ),
    "llm.embeddingspace": lambda space: (
        gettext("%(model)s (%(count)s dimensions)") % {"model": space.model, "count": space.dimension}
    ),
    "llm.price": lambda price: (
        gettext("%(provider)s %(model)s from %(day)s")
        % {"provider": price.provider, "model": price.model, "day": price.valid_from}
    ),
    "llm.budgetday": lambda day: gettext("Budget of %(day)s") % {"day": day.day},
    "llm.toolrunday": lambda row: gettext("%(tool)s on %(day)s") % {"tool": row.tool, "day": row.day},
    "events.event": lambda event: of_when(event.name, event.created_at),
    "events.delivery": lambda delivery: (
        gettext("%(event)s to %(subscriber)s") % {"event": delivery.event.name, "subscriber": delivery.subscriber}
    ),
    "rules.mergeruleversion": lambda version: (
        gettext("%(rule)s at version %(version)s") % {"rule": version.rule_name, "version": version.version}
    ),
    "django_q.ormq": lambda task: gettext("Queued %(function)s") % {"function": task.func()},
    "django_q.failure": lambda task: of_when(
        gettext("Failed task %(function)s") % {"function": task.func or task.name}, task.stopped
    ),
}
