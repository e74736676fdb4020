"""Entries that could not be written: counted, and said in the log without contents."""

import logging

from apps.audit.metrics import AUDIT_LOST

logger = logging.getLogger(__name__)


def note_loss(action: str, error: Exception) -> None:
    """Say that an act is not in the audit; what it did is done."""
    AUDIT_LOST.inc()
    logger.error("an entry of the audit could not be written: %s (%s)", action, type(error).__name__)
