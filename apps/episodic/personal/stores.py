"""The stores of the timeline."""

from apps.core.personal.store import PersonalStore
from apps.episodic.domain.filters import EVENT_FIELDS
from apps.episodic.models import TimelineEvent


class EventStore(PersonalStore):
    """Events, in rows and in segment files."""

    name = "events"
    order = 10
    models = (TimelineEvent,)
    filter_fields = EVENT_FIELDS


STORES = (EventStore(),)
