"""Memories as mem0 gives them out: objects with `memory`, `user_id`, `created_at`, `metadata` and `categories`."""

from collections.abc import Mapping
from typing import Any

from apps.core.domain.origin import WriteOrigin
from apps.imports.domain.found import (
    Found,
    FoundMemory,
    Kind,
    Reason,
    Refused,
    Target,
    clean_text,
    clean_title,
    read_moment,
)

_WORDS = ("memory", "text", "data", "content")
MAX_KEYWORDS = 20


def user_of(value: Any) -> str:
    """Return whose a memory is, as mem0 names them; empty where it says nothing."""
    found = value.get("user_id") if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def read_memory(place: str, value: Any) -> Found:
    """Return one memory of a list, of any shape."""
    if not isinstance(value, Mapping):
        return Refused(place=place, reason=Reason.NOT_UNDERSTOOD, target=Target.MEMORIES)
    words = next((text for name in _WORDS if (text := clean_text(value.get(name)).strip())), "")
    if not words:
        return Refused(place=place, reason=Reason.NO_WORDS, target=Target.MEMORIES)
    own = value.get("metadata")
    metadata = dict(own) if isinstance(own, Mapping) else {}
    about = {
        "import": Kind.MEM0.value,
        **{name: clean_title(value[name]) for name in ("id", "agent_id", "run_id", "app_id") if value.get(name)},
    }
    categories = value.get("categories")
    keywords = (
        [clean_title(one)[:100] for one in categories if clean_title(one)] if isinstance(categories, list) else []
    )
    return FoundMemory(
        place=place,
        content=words,
        origin=WriteOrigin.APP,
        occurred_at=read_moment(value.get("created_at")),
        type=clean_title(metadata.get("category") or metadata.get("type"))[:100],
        keywords=tuple(dict.fromkeys(keywords))[:MAX_KEYWORDS],
        metadata={**metadata, "import": about},
    )
