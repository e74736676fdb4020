"""The address of a chat model, with its key and timeouts."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from apps.llm.domain.chat import DEFAULT_TIMEOUTS, Timeouts

NO_KEY = "none"
"""Sent as the key where none is configured: the SDKs insist on one, and servers that need none ignore it."""


@dataclass(frozen=True)
class Endpoint:
    """One model at one service.

    service: `openai` or `anthropic`, whose wire format is used. base_url: None for the service's own address.
    api_key: None where the server asks for none. settings: what the names of its environment variables begin with.
    """

    service: str
    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    settings: str = "MEMORYHUB_CHAT"

    @property
    def name(self) -> str:
        """Return the service, and the address where it is not the service's own; see `ChatProvider.name`."""
        return f"{self.service}@{urlsplit(self.base_url).netloc}" if self.base_url else self.service

    @property
    def key(self) -> str:
        """Return what is sent as the key."""
        return self.api_key or NO_KEY
