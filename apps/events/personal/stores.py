"""The store of the outbox."""

from apps.events.models import Delivery, Event
from apps.events.personal.erase import OutboxErasure, QueueStore


class OutboxStore(OutboxErasure):
    """Hub events and their deliveries. They are not exported: what they report is in the other stores."""

    name = "outbox"
    order = 70
    models = (Event, Delivery)


STORES = (OutboxStore(), QueueStore())
