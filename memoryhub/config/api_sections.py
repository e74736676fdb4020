"""The sections of the API: in which order its documentation shows them, and which addresses are in each."""

from typing import NamedTuple


class Section(NamedTuple):
    """A group of operations. starts: of their paths below /api/, with the method where another one is elsewhere."""

    name: str
    about: str
    starts: tuple[str, ...]


# What most applications need comes first. An operation is in the section with the longest start that fits.
SECTIONS = (
    Section("Save", "Save what was learnt.", ("POST semantic/memories", "POST semantic/memories/batch")),
    Section("Search", "Ask for memories by meaning and words.", ("semantic/search",)),
    Section("Timeline", "Record what happened and when, and find it again.", ("episodic/",)),
    Section("Decisions", "What the hub decided where memories contradict each other.", ("semantic/conflicts",)),
    Section(
        "Memories",
        "List, change, reinforce, delete and restore memories.",
        ("semantic/", "semantic/memories/", "POST semantic/memories/", "POST semantic/memories/delete", "types"),
    ),
    Section("People", "Who there is; everything of a person, exported or forgotten.",
            ("users", "households", "personas", "memberships", "projects", "sessions", "erasures", "export")),
    Section("Notes", "Notes in Markdown, and their versions.", ("memory/",)),
    Section("Conversations", "Learn facts from what is said.", ("auto-memory/",)),
    Section("Knowledge", "Decisions and documents of repositories.", ("sync/",)),
    Section("Rules", "The rules by which the hub decides.", ("rules",)),
    Section("Models", "Chat models, and tools that models may use.", ("llm/",)),
    Section("Keys", "Keys of applications.", ("keys", "connect")),
)  # fmt: skip


def section_of(method: str, path: str) -> str:
    """Return the name of the section of an operation. Raises LookupError where none is for it."""
    below = path.removeprefix("/api/")
    fitting = {
        start: section.name
        for section in SECTIONS
        for start in section.starts
        if f"{method} {below}".startswith(start) or below.startswith(start)
    }
    if not fitting:
        raise LookupError(f"{method} {path} is in no section of memoryhub/config/api_sections.py.")
    return fitting[max(fitting, key=len)]
