"""Reasons that a chat model states, as they are stored and shown."""

from apps.semantic.domain.judge import make_storable


def plain_reason(text: str) -> str:
    """Return a reason as one short line; nothing of one that has no words or asks for a tool."""
    try:
        return make_storable(text)
    except ValueError:
        return ""
