"""The subscribers of events, as the table says that `settings.EVENT_SUBSCRIPTIONS` names."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.module_loading import autodiscover_modules, import_string

from apps.events.domain.payload import EventPayload, PayloadError, payload_class, registered_names

EVERY_EVENT = "*"


def payload_class_of(name: str) -> type[EventPayload]:
    """Return the payload class of an event name; import the `events` module of every app when it is not known yet.

    Raises PayloadError for a name that is not registered.
    """
    if payload_class(name) is None:
        autodiscover_modules("events")
    found = payload_class(name)
    if found is None:
        raise PayloadError(f"No payload class is registered under {name!r}.")
    return found


def all_event_names() -> list[str]:
    """Return the names of all events that any app can emit."""
    autodiscover_modules("events")
    return sorted(registered_names())


def subscription_table() -> Mapping[str, Sequence[str]]:
    """Return the table of subscriptions: name of an event, or `*`, -> dotted paths."""
    table: Mapping[str, Sequence[str]] = import_string(settings.EVENT_SUBSCRIPTIONS)
    return table
