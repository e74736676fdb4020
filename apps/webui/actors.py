"""Who did something, as a person reads it."""

from django.utils.translation import gettext as _

from apps.core.pauses import PERSON
from apps.webui.person import Person

KEY, OPERATOR = "key:", "admin:"


def who(actor: str, person: Person) -> str:
    """Return who did something: the person themselves, an app by its name, an operator, or the hub."""
    if actor == f"{PERSON}{person.user_id}":
        return _("You")
    if actor.startswith(PERSON):
        return actor.removeprefix(PERSON)
    if actor.startswith(KEY):
        return actor.removeprefix(KEY)
    if actor.startswith(OPERATOR):
        return _("An operator (%(name)s)") % {"name": actor.removeprefix(OPERATOR)}
    return _("The hub")
