"""Prometheus metrics of conversations."""

from prometheus_client import Counter

MESSAGES = Counter(
    "memoryhub_notes_messages", "New messages of conversations, by role; recalled for texts from memory.", ["role"]
)
EVENTS = Counter(
    "memoryhub_notes_conversation_events",
    "Events of conversations, by type, and by what they led to: extracting, flushing, noted, or why they were skipped.",
    ["type", "outcome"],
)
RUNS = Counter(
    "memoryhub_notes_extraction_runs", "Ended runs of extraction, by what led to them.", ["trigger", "state"]
)
FACTS = Counter("memoryhub_notes_facts", "Facts of finished runs, by what became of them: applied, dropped.", ["state"])
