"""What the hub consists of at this moment: its processes, its disk, its index, and what was spent today."""

import shutil
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from apps.cockpit.viewer import may_view_hub
from apps.core.admin.kit import dollars, filesize
from apps.core.bounds import is_bound
from apps.core.health import OK, readiness
from apps.core.models import ProcessKind
from apps.core.pages.times import age
from apps.core.processes import ProcessState, live_processes
from apps.llm.services import budget_status, guard_rules
from apps.semantic.domain.index_health import IndexLevel

# A process sends a sign of life every 3 seconds, and a worker once in 10: later ones are marked.
LATE_SECONDS = {ProcessKind.WEB: 9, ProcessKind.WORKER: 30}
LEVEL_TONES = {IndexLevel.OK: "success", IndexLevel.WARNING: "warning", IndexLevel.DEGRADED: "danger"}


@dataclass(frozen=True)
class ProcessRow:
    """A process as the page shows it. seen: how long ago it was heard of."""

    name: str
    seen: str
    is_late: bool
    where: str
    missing: str


@dataclass(frozen=True)
class DiskRow:
    """The disk that the data is on."""

    free: str
    size: str
    percent: int
    tone: str


def hub_state(request: HttpRequest) -> dict[str, Any]:
    """Return what the viewer may see of the hub as it is."""
    if is_bound(request.user):
        return {}
    context: dict[str, Any] = {
        "checks": [(name.capitalize(), answer, answer == OK) for name, answer in readiness().checks.items()]
    }
    if may_view_hub(request, "core.hubprocess"):
        processes = live_processes()
        context |= {"processes": process_rows(processes), "disk": disk_row(), "index": index_level(processes)}
    if may_view_hub(request, "llm.budgetday"):
        budget = budget_status(rules=guard_rules())
        limit = f"of {dollars(budget.limit)}" if budget.limit is not None else "no budget is set"
        context["spent"] = {"amount": dollars(budget.spent), "limit": limit}
    return context


def process_rows(processes: list[ProcessState]) -> list[ProcessRow]:
    """Return the live processes, numbered by kind."""
    numbers: Counter[ProcessKind] = Counter()
    hosts = {one.host for one in processes}
    rows = []
    for one in processes:
        numbers[one.kind] += 1
        missing = [f"{name}: {answer}" for name, answer in one.checks.items() if answer != OK]
        where = f"process {one.pid}{f' on {one.host}' if len(hosts) > 1 else ''}"
        is_late = one.age > LATE_SECONDS[one.kind]
        seen = age(timedelta(seconds=one.age))
        rows.append(ProcessRow(f"{one.kind.label} {numbers[one.kind]}", seen, is_late, where, "; ".join(missing)))
    return rows


def disk_row() -> DiskRow | None:
    """Return how full the disk of the data folder is; None where that cannot be read."""
    try:
        usage = shutil.disk_usage(settings.MEMORYHUB.data_dir)
    except OSError:
        return None
    percent = round(100 * usage.used / usage.total) if usage.total else 0
    tone = "bad" if percent >= 95 else "warn" if percent >= 85 else "good"
    return DiskRow(filesize(usage.free), filesize(usage.total), percent, tone)


def index_level(processes: list[ProcessState]) -> dict[str, str] | None:
    """Return the worst level of the indexes of all web processes; None before one has said it."""
    levels = list(IndexLevel)
    found = [one.facts["index"] for one in processes if "level" in one.facts.get("index", {})]
    if not found:
        return None
    worst = max(found, key=lambda facts: levels.index(IndexLevel(facts["level"])))
    level = IndexLevel(worst["level"])
    reasons = ", ".join(str(reason).replace("_", " ") for reason in worst.get("reasons", ()))
    return {"label": level.value, "colour": LEVEL_TONES[level], "reasons": reasons}
