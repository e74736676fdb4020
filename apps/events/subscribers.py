"""Who hears what: reads the table that `settings.EVENT_SUBSCRIPTIONS` names."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.module_loading import autodiscover_modules, import_string

from apps.events.domain.codecs import PayloadError
from apps.events.domain.payload import EventPayload, payload_class

EVERY_EVENT = "*"


def subscribers_of(name: str) -> list[str]:
    """The dotted paths of the handlers of an event, each once, in the table's order."""
    table: Mapping[str, Sequence[str]] = import_string(settings.EVENT_SUBSCRIPTIONS)
    return list(dict.fromkeys([*table.get(name, ()), *table.get(EVERY_EVENT, ())]))


def payload_class_of(name: str) -> type[EventPayload]:
    """The payload class of an event name; imports the `events` module of every app when it has to.

    Raises PayloadError for a name that nobody registered.
    """
    found = payload_class(name)
    if found is None:
        autodiscover_modules("events")
        found = payload_class(name)
    if found is None:
        raise PayloadError(f"No payload class is registered under {name!r}.")
    return found
