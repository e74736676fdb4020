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
