"""What the frame of the admin shows on every page: its navigation and its environment label."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from apps.core.domain.scope import system_access
from apps.episodic.selectors import active_warnings
from apps.events.selectors import outbox_status
from apps.llm.services import open_breakers
from apps.semantic.services import open_conflicts

MAX_BADGE = 999

# Group -> title, icon and model of each list. Who may not view a model does not see its list.
LISTS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    ("Memory", (("Memories", "neurology", "semantic.memory"),)),
    (
        "Conflicts",
        (
            ("Conflicts", "balance", "semantic.conflict"),
            ("Consolidations", "manage_search", "semantic.consolidation"),
            ("Merge rules", "rule", "rules.mergerule"),
            ("Rule versions", "history", "rules.mergeruleversion"),
        ),
    ),
    (
        "Timeline",
        (
            ("Events", "timeline", "episodic.timelineevent"),
            ("Segments", "inventory_2", "episodic.segment"),
            ("Retention", "event_busy", "episodic.retentionpolicy"),
            ("Routing policies", "alt_route", "semantic.routingpolicy"),
            ("Routed events", "move_down", "semantic.ingestion"),
            ("Audit of pruned events", "policy", "semantic.bridgeaudit"),
            ("Warnings", "warning", "episodic.timelinewarning"),
        ),
    ),
    (
        "Models",
        (
            ("Budget and breakers", "account_balance_wallet", "llm.budgetday"),
            ("Calls", "forum", "llm.modelcall"),
            ("Prices", "sell", "llm.price"),
            ("Tool statistics", "construction", "llm.toolrunday"),
            ("Embedding spaces", "hub", "llm.embeddingspace"),
        ),
    ),
    (
        "Access",
        (
            ("API keys", "key", "core.apikey"),
            ("Users", "person", "auth.user"),
            ("Groups", "group", "auth.group"),
        ),
    ),
    ("Events", (("Events", "bolt", "events.event"), ("Deliveries", "outbox", "events.delivery"))),
    (
        "Background work",
        (
            ("Schedules", "schedule", "django_q.schedule"),
            ("Queued tasks", "hourglass_empty", "django_q.ormq"),
            ("Failed tasks", "error", "django_q.failure"),
        ),
    ),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """The navigation: what there is to look after, grouped by what it is about."""
    home = {"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")}
    docs = {"title": "API documentation", "icon": "api", "link": reverse("docs")}
    groups: list[dict[str, Any]] = [{"items": [home, docs]}]
    for title, lists in LISTS:
        groups.append({"title": title, "items": [_item(request, *entry) for entry in lists]})
    return groups


def _item(request: HttpRequest, title: str, icon: str, model: str) -> dict[str, Any]:
    app, name = model.split(".")
    visible = may_view(request, model)
    item: dict[str, Any] = {
        "title": title,
        "icon": icon,
        "link": reverse(f"admin:{app}_{name}_changelist"),
        "permission": lambda _request: visible,
    }
    return item | (_badge(model) if visible else {})


def _badge(model: str) -> dict[str, Any]:
    """What waits for a person in a list, if anything does."""
    if model == "events.delivery" and (failed := outbox_status().failed):
        return {"badge": failed, "badge_variant": "danger"}
    if model == "semantic.conflict" and (waiting := open_conflicts(system_access("admin"), MAX_BADGE + 1)):
        return {"badge": f"{MAX_BADGE}+" if waiting > MAX_BADGE else waiting, "badge_variant": "warning"}
    if model == "episodic.timelinewarning" and (active := active_warnings().count()):
        return {"badge": active, "badge_variant": "danger"}
    has_model = settings.MEMORYHUB.chat.primary is not None
    if model == "llm.budgetday" and has_model and (not_closed := open_breakers()):
        return {"badge": not_closed, "badge_variant": "danger"}
    return {}


def may_view(request: HttpRequest, model: str) -> bool:
    """Whether the person may look at a model, given as `app.model`: viewing or changing it is permitted."""
    app, name = model.split(".")
    user = request.user
    return user.has_perm(f"{app}.view_{name}") or user.has_perm(f"{app}.change_{name}")


def environment(request: HttpRequest) -> list[str]:
    """The label at the top of every page, so that nobody takes one hub for another."""
    config = settings.MEMORYHUB
    if config.debug:
        return ["Debug mode", "danger"]
    if config.https:
        return [request.get_host(), "success"]
    return ["Local", "info"]
