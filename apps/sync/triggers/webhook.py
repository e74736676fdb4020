"""Calls of servers of repositories that say that one has changed."""

from collections.abc import Mapping
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import NotFoundError
from apps.sync.runs.answers import WebhookAnswer


def webhook_receive(
    *, uuid: UUID, headers: Mapping[str, str], body: bytes, clock: Clock = SYSTEM_CLOCK
) -> WebhookAnswer:
    """Request an incremental sync because a server says that the repository has changed. Raises NotFoundError."""
    raise NotFoundError("There is no such webhook.")
