"""Prometheus metrics of notes."""

from prometheus_client import Counter, Histogram

SEARCHES = Counter("memoryhub_notes_searches", "Searches in notes.", ["mode"])
SEARCH_SECONDS = Histogram(
    "memoryhub_notes_search_duration_seconds",
    "Time of a search in notes, with bringing the index up to date.",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30),
)
INDEX_FILES = Counter("memoryhub_notes_index_files", "Files of notes that the index has taken in.", ["outcome"])
INDEX_REMADE = Counter("memoryhub_notes_index_remade", "Indexes of notes that were deleted and made again.", ["reason"])
INDEX_VECTORS = Counter("memoryhub_notes_index_vectors", "Vectors made for chunks of notes.")
COMPACTIONS = Counter("memoryhub_notes_compactions", "Compactions of MEMORY.md, by what became of them.", ["state"])
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
