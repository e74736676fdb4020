"""The tasks of notes, which django-q2 runs by these names."""

from uuid import UUID

from apps.notes import services


def look_at_disk() -> None:
    """Record what was changed on the disk lately; each minute."""
    services.notes_look()


def extract_facts() -> None:
    """Begin or continue the runs of extraction that are due; when one is requested, and each minute."""
    services.runs_continue()


def clear_conversations() -> None:
    """Delete the contents of messages whose time is over; each hour."""
    services.contents_clear()


def compact(uuid: str) -> None:
    """Draft a compaction of MEMORY.md that was asked for."""
    services.compaction_draft(uuid=UUID(uuid))
