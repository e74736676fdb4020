"""The built-in subscriber."""

import logging

from apps.events import metrics
from apps.events.domain.envelope import Envelope

logger = logging.getLogger(__name__)


def observe(envelope: Envelope) -> None:
    """Count the event and log its name and identifiers; nothing that a person wrote."""
    metrics.EVENTS.labels(name=envelope.name).inc()
    identifiers = " ".join(f"{key}={value}" for key, value in envelope.payload.identifiers().items())
    logger.debug("event %s %s %s", envelope.event_id, envelope.name, identifiers)
