"""The stores of the timeline."""

from apps.core.personal.settings_table import SettingsStore
from apps.episodic.models import RetentionPolicy, TimelineEvent
from apps.episodic.personal.erase import EventErasure
from apps.episodic.personal.events import EventTransfer


class EventStore(EventErasure, EventTransfer):
    """Events, in rows and in segment files."""

    name = "events"
    order = 10
    models = (TimelineEvent,)


class RetentionPolicyStore(SettingsStore):
    """How long events are kept."""

    name = "retention_policies"
    order = 6
    models = (RetentionPolicy,)
    kinds = ("retention_policies",)
    key = ("household_id",)


STORES = (RetentionPolicyStore(), EventStore())
