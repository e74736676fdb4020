"""What the hub consists of at this moment: its processes, its disk, its index, and what was spent today."""

import shutil
from collections import Counter
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.activity.outbox import words_of
from apps.cockpit.pages import may_view_hub
from apps.core.admin.kit import dollars, filesize
from apps.core.bounds import is_bound
from apps.core.health import OK, readiness
from apps.core.models import ProcessKind
from apps.core.pages.lists import in_turn, listed
from apps.core.pages.sayings import say
from apps.core.pages.times import age
from apps.core.processes import ProcessState, live_processes
from apps.llm.services import budget_status, guard_rules
from apps.semantic.domain.index_health import IndexLevel

# A process sends a sign of life every 3 seconds, and a worker once in 10: later ones are marked.
LATE_SECONDS = {ProcessKind.WEB: 9, ProcessKind.WORKER: 30}
# Checks of the readiness as the page names them.
CHECKS = {
    "database": _("Database"),
    "migrations": _("Migrations"),
    "disk": _("Disk"),
    "embedding": _("Embedding"),
    "index": _("Index"),
    "timeline": _("Timeline"),
    "web": _("Web"),
    "worker": _("Worker"),
    "schedules": _("Schedules"),
}
LEVEL_TONES = {IndexLevel.OK: "success", IndexLevel.WARNING: "warning", IndexLevel.DEGRADED: "danger"}


def hub_state(request: HttpRequest) -> dict[str, Any]:
    """Return what the viewer may see of the hub as it is."""
    if is_bound(request.user):
        return {}
    context: dict[str, Any] = {
        "checks": [(check_name(name), say(answer), answer == OK) for name, answer in readiness().checks.items()]
    }
    if may_view_hub(request, "core.hubprocess"):
        processes = live_processes()
        context |= {"processes": process_rows(processes), "disk": disk_row(), "index": index_level(processes)}
    if may_view_hub(request, "llm.budgetday"):
        budget = budget_status(rules=guard_rules())
        limit = gettext("no budget is set")
        if budget.limit is not None:
            limit = gettext("of %(amount)s") % {"amount": dollars(budget.limit)}
        context["spent"] = {"amount": dollars(budget.spent), "limit": limit}
    return context


def check_name(name: str) -> str:
    """Return what a check of the readiness looks at, as a title."""
    return str(CHECKS[name]) if name in CHECKS else name.capitalize()


def process_rows(processes: list[ProcessState]) -> list[dict[str, Any]]:
    """Return the live processes, numbered by kind. seen: how long ago each was heard of."""
    numbers: Counter[ProcessKind] = Counter()
    hosts = {one.host for one in processes}
    rows = []
    for one in processes:
        numbers[one.kind] += 1
        missing = [f"{check_name(name).lower()}: {say(answer)}" for name, answer in one.checks.items() if answer != OK]
        where = gettext("process %(pid)s") % {"pid": one.pid}
        if len(hosts) > 1:
            where = gettext("process %(pid)s on %(host)s") % {"pid": one.pid, "host": one.host}
        is_late = one.age > LATE_SECONDS[one.kind]
        seen = age(timedelta(seconds=one.age))
        name = gettext("%(kind)s %(number)s") % {"kind": gettext(one.kind.label), "number": numbers[one.kind]}
        rows.append({"name": name, "seen": seen, "is_late": is_late, "where": where, "missing": in_turn(missing)})
    return rows


def disk_row() -> dict[str, Any] | None:
    """Return how full the disk of the data folder is; None where that cannot be read."""
    try:
        usage = shutil.disk_usage(settings.MEMORYHUB.data_dir)
    except OSError:
        return None
    percent = round(100 * usage.used / usage.total) if usage.total else 0
    tone = "bad" if percent >= 95 else "warn" if percent >= 85 else "good"
    return {"free": filesize(usage.free), "size": filesize(usage.total), "percent": percent, "tone": tone}


def index_level(processes: list[ProcessState]) -> dict[str, str] | None:
    """Return the worst level of the indexes of all web processes; None before one has said it."""
    levels = list(IndexLevel)
    found = [one.facts["index"] for one in processes if "level" in one.facts.get("index", {})]
    if not found:
        return None
    worst = max(found, key=lambda facts: levels.index(IndexLevel(facts["level"])))
    level = IndexLevel(worst["level"])
    reasons = listed(words_of(reason) for reason in worst.get("reasons", ()))
    return {"label": words_of(level.value), "colour": LEVEL_TONES[level], "reasons": reasons}
