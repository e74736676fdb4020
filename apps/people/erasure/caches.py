"""What processes hold in memory of people who were forgotten: each drops it, and web processes say so.

A web process looks with every sign of life, a process of the worker before every task.
"""

from datetime import datetime
from typing import Any

from django.db.models import Max

from apps.core.models import ProcessKind
from apps.core.per_process import PerProcess
from apps.core.personal.registry import personal_stores
from apps.core.processes import live_processes
from apps.people.models import Erasure

FACT = "forgotten"


class Seen:
    """When the stores were last emptied, as far as this process has dropped what it held."""

    moment: datetime | None = None


_seen = PerProcess(Seen)


def caches_drop() -> None:
    """Drop what this process holds of people who were forgotten, if there are new ones since it last did."""
    latest = Erasure.objects.aggregate(latest=Max("emptied_at"))["latest"]
    seen = _seen.get()
    if latest is None or latest == seen.moment:
        return
    for store in personal_stores():
        store.drop_caches()
    seen.moment = latest


def forgotten_facts() -> dict[str, Any]:
    """Drop what is to be dropped, and return since when there is nothing of it left, for other processes."""
    caches_drop()
    moment = _seen.get().moment
    return {"until": moment.timestamp() if moment else 0.0}


def processes_behind(erasure_id: int) -> tuple[int, int]:
    """Return how many web processes there are, and how many of them have not dropped what they held."""
    emptied_at = Erasure.objects.values_list("emptied_at", flat=True).get(pk=erasure_id)
    assert emptied_at is not None
    web = [state for state in live_processes() if state.kind is ProcessKind.WEB and not state.is_this_one]
    behind = [state for state in web if state.facts.get(FACT, {}).get("until", 0.0) < emptied_at.timestamp()]
    return len(web), len(behind)
