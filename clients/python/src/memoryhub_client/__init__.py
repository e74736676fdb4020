"""Client of MemoryHub, a self-hosted memory server for AI assistants and agents.

    from memoryhub_client import Client

    with Client("http://127.0.0.1:8000", "mh_...", user_id="ana") as hub:
        hub.save("Ana prefers tea to coffee.")
        hub.search("what does she drink?")

`AsyncClient` has the same methods to be awaited.
"""

from memoryhub_client.asynchronous import AsyncClient
from memoryhub_client.calls import Call
from memoryhub_client.errors import (
    Conflict,
    HubFault,
    InvalidRequest,
    MemoryHubError,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    Refused,
    TryLater,
    Unreachable,
)
from memoryhub_client.synchronous import Client

__all__ = [
    "AsyncClient",
    "Call",
    "Client",
    "Conflict",
    "HubFault",
    "InvalidRequest",
    "MemoryHubError",
    "NotAuthenticated",
    "NotFound",
    "NotPermitted",
    "Refused",
    "TryLater",
    "Unreachable",
]
