"""The store of the outbox."""

from apps.core.personal.store import PersonalStore
from apps.events.models import Delivery, Event


class OutboxStore(PersonalStore):
    """Hub events and their deliveries. They are not exported: what they report is in the other stores."""

    name = "outbox"
    order = 70
    models = (Event, Delivery)


STORES = (OutboxStore(),)
