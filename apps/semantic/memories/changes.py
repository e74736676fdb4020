"""What an update changed about a memory, in a sentence of a page."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.core.db.memberships import display_names

CONTENT, HOUSEHOLD, SUCCESSOR = "content", "household_id", "superseded_by"
# What no sentence is about: the hub keeps it in step with the rest.
UNSPOKEN = frozenset({CONTENT, HOUSEHOLD, SUCCESSOR, "status", "status_changed_at", "origin"})


def say_update(changes: Mapping[str, Any], who: str) -> str:
    """Say who changed the words, the household, or what else is known besides. changes: of a revision."""
    household = str(changes.get(HOUSEHOLD, ["", ""])[1] or "")
    household = display_names(HOUSEHOLD, [household]).get(household, "")
    if CONTENT in changes:
        said = _("%(who)s changed the words.")
    elif HOUSEHOLD in changes:
        said = _("%(who)s shared it with %(household)s.") if household else _("%(who)s made it private.")
    elif set(changes) - UNSPOKEN:
        said = _("%(who)s changed what is noted besides it.")
    else:
        said = _("%(who)s changed it.")
    return said % {"who": who, "household": household}
