"""What a key may do, in whole sentences."""

from django.utils.translation import gettext as _

from apps.core.domain.scope import Permission
from apps.core.models import ApiKey


def says_what(key: ApiKey, user_id: str) -> str:
    """Return in a sentence what a key may do with what is a person's."""
    if key.permission == Permission.OPERATOR:
        return _("Manages this hub: it reads and writes what the hub knows about everyone, and creates other keys.")
    is_writing = key.permission == Permission.WRITE
    if key.user_id == user_id:
        return says_of_own_key(key, is_writing)
    if user_id in key.reads:
        return _("Reads your data, because it was shared with it.")
    if key.household_id and not key.persona_id:
        named = {"household": key.household_id}
        if is_writing:
            return _("Reads and writes the data of %(household)s.") % named
        return _("Reads the data of %(household)s.") % named
    if key.persona_id:
        named = {"persona": key.persona_id}
        if is_writing:
            return _("Reads and writes what the persona %(persona)s knows.") % named
        return _("Reads what the persona %(persona)s knows.") % named
    if is_writing:
        return _("Reads and writes what the hub knows about everyone.")
    return _("Reads what the hub knows about everyone.")


def says_of_own_key(key: ApiKey, is_writing: bool) -> str:
    """Return the sentence of a key that is bound to the person."""
    part = key.household_id or key.persona_id
    if part and is_writing:
        return _("Reads and writes your data in %(part)s.") % {"part": part}
    if part:
        return _("Reads your data in %(part)s.") % {"part": part}
    return _("Reads and writes your data.") if is_writing else _("Reads your data.")


def says_whom(key: ApiKey, user_id: str) -> str:
    """Return in a sentence whether a key sees more than this person."""
    if key.user_id == user_id and not key.reads:
        return _("It cannot see other people’s data.")
    if key.user_id == user_id:
        return _("It also sees what others shared with it.")
    if key.user_id:
        return _("It belongs to someone else and can see their data, too.")
    if key.household_id or key.persona_id:
        return _("It also sees what belongs to others there.")
    return _("It also sees what belongs to everyone else here.")
