"""When a source is synced next, in words, from what a list has read already."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import moment
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.sayings import say
from apps.sync.domain.triggers import should_sync
from apps.sync.models import KnowledgeSource
from apps.sync.sources.facts import trigger_facts

NOT_WHILE = {"disabled": _("not while it is off"), "paused": _("not while it is paused")}


def due_of(source: KnowledgeSource) -> tuple[str, str]:
    """Return when the next sync of a source begins, and why. source: with its state."""
    answer = should_sync(trigger_facts(source, source.state), utcnow(SYSTEM_CLOCK))
    if answer.reason in NOT_WHILE:
        return str(NOT_WHILE[answer.reason]), ""
    if answer.should:
        return gettext("within a minute"), say(answer.detail)
    # Nothing has to be said beside a time that a person set.
    why = "" if answer.due_at and answer.reason == "manual" else say(answer.detail)
    return (moment(answer.due_at) if answer.due_at else gettext("on request")), why
