"""How long the hub keeps things of a person, in words."""

from dataclasses import dataclass

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.episodic.selectors import event_counts, kept_days
from apps.people.selectors import KEPT
from apps.semantic.services import USES_KEPT
from apps.webui.person import Person


@dataclass(frozen=True)
class Kept:
    """Something that is kept, and how long."""

    what: str | Promise
    how_long: str | Promise


def kept_of(person: Person) -> list[Kept]:
    """Return what is kept of a person, and how long."""
    config = settings.MEMORYHUB
    return [
        Kept(_("Memories"), _("Until you forget them. No app finds a forgotten memory, and you can bring it back.")),
        Kept(_("How a memory changed, and why"), _("As long as the memory.")),
        *kept_events(person),
        Kept(_("Notes and their versions"), _("Until everything is forgotten.")),
        Kept(_("The words of conversations"), in_days(config.conversation_days)),
        Kept(_("Questions to language models"), in_days(config.guards.call_retention_days)),
        Kept(_("Which app used a memory"), in_days(USES_KEPT.days)),
        Kept(_("Who viewed what, and who did what"), in_days(config.audit_days)),
        Kept(_("Your file to download"), in_days(KEPT.days)),
        Kept(_("Receipts of forgetting"), _("For good. They say how much was removed, not whose it was.")),
        Kept(
            _("Backups"),
            _(
                "The people who run this hub may keep backups, and nothing is removed from those here. Ask them how "
                "long they keep them."
            ),
        ),
    ]


def kept_events(person: Person) -> list[Kept]:
    """Return how long what happened is kept: in each household of the person, and outside of any."""
    try:
        counted = event_counts(person.access, Scope(), "household_id")
    except MemoryHubError:
        counted = []
    households = sorted({"", *(one.name for one in counted)})
    days = kept_days(households)
    kept = []
    for household in households:
        what = _("What happened (%(household)s)") % {"household": household} if household else _("What happened")
        known = days[household]
        kept.append(Kept(what, _("Until you forget it.") if known is None else in_days(known)))
    return kept


def in_days(days: int) -> str:
    """Return a length of time in words."""
    return ngettext("One day.", "%(days)d days.", days) % {"days": days}
