"""What callers send of hostile texts, over the doors of the API that they use."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tests.api import MEMORIES, Api, Lines
from tests.hostile.contents import Hostile, contents_of

BATCH = 50
NOW = datetime.now(UTC)


def nested(one: Hostile) -> dict[str, Any]:
    """A JSON document with a text in every place of it."""
    return {one.text: one.text, "list": [one.text, {one.text: [one.text]}], "text": one.text}


def over_doors(api: Api) -> dict[str, int]:
    """Send texts to each door of the API, wherever it takes text; return how many each took, by door."""
    taken: dict[str, int] = {}

    def send(door: str, path: str, body: Any, count: int = 1) -> None:
        answer = api.post(path, body)
        assert answer.status_code < 500, (door, answer.status_code)
        taken[door] = taken.get(door, 0) + count * (answer.status_code < 300)

    texts = contents_of("door")
    memories, events, messages = [], [], []
    for one in texts:
        text, name = one.text, one.text[:200]
        scope = {"user_id": name, "household_id": name, "persona_id": name}
        more = {"context": text, "metadata": nested(one), "keywords": [text[:100]], "source": text[:64]}
        tags = {"session_id": name, "project": name, "agent": name, "personality": name, "type": name}
        memories.append({"content": text, **more, **tags, "user_id": "ana", "persona_id": name})
        event = {"timestamp": NOW.isoformat(), "event_type": "message", "content": text, "metadata": nested(one)}
        events.append({**event, **scope, "source": text[:64]})
        messages.append({"role": "user", "content": f"{text} My name is {text}.", "message_id": name, "speaker": name})
    for one in texts[::9]:
        text, name = one.text, one.text[:200]
        event = {"timestamp": NOW.isoformat(), "content": text, "user_id": "ana"}
        send("type of an event", "/api/episodic/events", {**event, "event_type": text[:100]})
        send("name of a rule", "/api/rules", {"name": name[:100]})
        send("tool", "/api/llm/tools/execute", {"text": f'[[ABP_TOOL:{text[:60]}]]{{"query": "{one.marker}"}}'})
        source = {"name": text[:100], "kind": "git", "location": "https://example.org/x.git", "user_id": "ana"}
        send("source", "/api/sync/sources", {**source, "project": name})
        send("location of a source", "/api/sync/sources", {**source, "location": text[:600]})
        scope = {"user_id": name, "household_id": name, "persona_id": name}
        send("memory of a name", MEMORIES, {"content": text, **scope})
        send("rule", "/api/rules", {"name": one.marker, "conditions": {"user_id": name}, "description": text[:500]})
        send("key", "/api/keys", {"name": text[:100], **scope, "reads": [name]})
        send("note", "/api/memory/main/entries", {"entry": text, "category": text[:100], "user_id": name})
        file = {"command": "create", "path": f"/memories/{text[:100]}.md", "file_text": text, "user_id": "ana"}
        send("file", "/api/memory/commands", file)
        session = f"/api/auto-memory/sessions/{quote(name, safe='')}/messages"
        send("session", session, {"messages": [{"role": "user", "content": text}], "user_id": "ana"})
    for start in range(0, len(memories), BATCH):
        some = memories[start : start + BATCH]
        send("memory", f"{MEMORIES}/batch", {"memories": some}, len(some))
    send("events", "/api/episodic/events/import", Lines(events), len(events))
    for start in range(0, len(messages), BATCH):
        some = messages[start : start + BATCH]
        send("message", "/api/auto-memory/sessions/chat/messages", {"messages": some, "user_id": "ana"}, len(some))
    send("end", "/api/auto-memory/sessions/chat/events", {"type": "session.end", "user_id": "ana"})
    return taken
