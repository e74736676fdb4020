"""A session of OpenAI's Agents SDK over the timeline: what was said stays, is found, and may become memories.

    session = TimelineSession(AsyncClient(url, key, user_id="ana"), "chat-12")
    await Runner.run(agent, "Hello", session=session)

Needs `pip install memoryhub-client[openai-agents]`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from agents import TResponseInputItem
from agents.memory import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from memoryhub_client.answers import FoundEvent
from memoryhub_client.asynchronous import AsyncClient

EVENT_TYPE = "agent.item"
# Of one query; the hub's metadata take 20,000 characters, and the room of the others is left to their names.
MOST, MOST_CHARS = 1_000, 18_000


class TimelineSession(SessionABC):
    """Keeps the items of a conversation as events.

    Each item is an event of its own, whose content is its words and whose metadata hold the item. An item of more than
    18,000 characters as JSON is refused. Items of one call are a microsecond apart, so their order is that of the list.
    """

    def __init__(self, hub: AsyncClient, session_id: str, *, settings: SessionSettings | None = None) -> None:
        self.hub, self.session_id = hub, session_id
        self.session_settings = settings or SessionSettings()
        self._latest = datetime.min.replace(tzinfo=UTC)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest items, the earliest of them first. limit: how many, None for those that settings say."""
        wanted = resolve_session_limit(limit, self.session_settings)
        if wanted is not None and wanted <= 0:
            return []
        return [json.loads(one["metadata"]["item"]) for one in await self._events(wanted)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the end. Raises ValueError for one that is too long, and MemoryHubError."""
        if not items:
            return
        # Later than what this object has added, also where two calls come within a microsecond.
        begun = max(datetime.now(UTC), self._latest + timedelta(microseconds=1))
        events = []
        for place, item in enumerate(items):
            text = json.dumps(item, ensure_ascii=False)
            if len(text) > MOST_CHARS:
                raise ValueError(f"Item {place} has {len(text)} characters as JSON: at most {MOST_CHARS}.")
            moment = begun + timedelta(microseconds=place)
            metadata = {"session_id": self.session_id, "item": text}
            events.append(
                {
                    "event_type": EVENT_TYPE,
                    "content": words_of(item),
                    "timestamp": moment,
                    "source": "conversation",
                    "metadata": metadata,
                }
            )
        for begin in range(0, len(events), MOST):
            for result in await self.hub.record_many(events[begin : begin + MOST]):
                if errors := result.get("errors"):
                    raise ValueError(str(errors[0].get("detail")))
        self._latest = begun + timedelta(microseconds=len(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the latest item and return it, None where there is none."""
        events = await self._events(1)
        if not events:
            return None
        await self.hub.forget_event(events[0]["id"])
        item: TResponseInputItem = json.loads(events[0]["metadata"]["item"])
        return item

    async def clear_session(self) -> None:
        """Remove all items for good."""
        while events := await self._events(MOST):
            for one in events:
                await self.hub.forget_event(one["id"])

    async def _events(self, wanted: int | None) -> list[FoundEvent]:
        """Return the latest events of the session, the earliest first; all of them for None."""
        found: dict[str, FoundEvent] = {}
        before: dict[str, Any] = {}
        while wanted is None or len(found) < wanted:
            size = MOST if wanted is None else min(MOST, wanted - len(found))
            where = {"metadata.session_id": self.session_id, **before}
            answer = await self.hub.query_events(event_types=[EVENT_TYPE], filter=where, limit=size)
            new = [one for one in answer["results"] if one["id"] not in found]
            found.update((one["id"], one) for one in new)
            if len(answer["results"]) < size or not new:
                break
            before = {"timestamp": {"lt": min(new, key=moment_of)["timestamp"]}}
        return sorted(found.values(), key=moment_of)


def moment_of(event: FoundEvent) -> datetime:
    """Return when an event happened. Whole seconds are written without a fraction, so texts would not do."""
    return datetime.fromisoformat(event["timestamp"])


def words_of(item: TResponseInputItem) -> str:
    """Return what an item says, or what kind of item it is, for searches in the timeline."""
    fields: dict[str, Any] = dict(item)
    content = fields.get("content") or fields.get("output") or fields.get("arguments")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text")) for part in content if isinstance(part, dict) and part.get("text"))
    kind = str(fields.get("role") or fields.get("type") or "item")
    return f"{kind}: {content}" if isinstance(content, str) and content.strip() else kind
