"""Parts of every page of the admin: the navigation and the environment label."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.admin.urls import PAGES
from apps.cockpit.selectors import seen_problems
from apps.core.admin.kit import may_view, operator_access
from apps.core.bounds import is_bound
from apps.core.words import Words
from apps.episodic.selectors import active_warnings
from apps.events.selectors import outbox_status
from apps.llm.services import open_breakers
from apps.monitor.domain.problems import ProblemSeverity
from apps.semantic.services import open_conflicts
from apps.sync.selectors import conflict_list

MAX_BADGE = 999
# From a model to the badge of its list.
Badges = Callable[[str], dict[str, Any]]

# What operators come for. A page of the cockpit by its name, or the list of a model; hidden from who may not see it.
JOBS = (
    "now", "ask", "semantic.memory", "people", "decisions", "rules.mergerule", "episodic.timelineevent", "work",
    "llm.budgetday", "index", "access", "audit",
)  # fmt: skip
# Title, icon, and the page of the model.
OF_JOBS = {
    "semantic.memory": (_("Memories"), "neurology", "changelist"),
    "rules.mergerule": (_("Rules"), "rule", "changelist"),
    "episodic.timelineevent": (_("Timeline"), "timeline", "timeline"),
    "llm.budgetday": (_("Models"), "account_balance_wallet", "changelist"),
}
PAGES_BY_NAME = {page.name: page for page in PAGES}

# Title, icon and model of each list. One is hidden from users who may not view its model; the pages above lead to those
# that are theirs.
LISTS: tuple[tuple[Words, str, str], ...] = (
    (_("Notes"), "description", "notes.noteversion"),
    (_("Extractions"), "manufacturing", "notes.extractionrun"),
    (_("Learnt facts"), "lightbulb", "notes.extractedfact"),
    (_("Compactions"), "compress", "notes.compaction"),
    (_("Conflicts"), "balance", "semantic.conflict"),
    (_("Consolidations"), "manage_search", "semantic.consolidation"),
    (_("Judge"), "gavel", "semantic.judge"),
    (_("Rule versions"), "history", "rules.mergeruleversion"),
    (_("Rows of events"), "table_rows", "episodic.timelineevent"),
    (_("Segments"), "inventory_2", "episodic.segment"),
    (_("Retention"), "event_busy", "episodic.retentionpolicy"),
    (_("Routing policies"), "alt_route", "semantic.routingpolicy"),
    (_("Routed events"), "move_down", "semantic.ingestion"),
    (_("Audit of pruned events"), "policy", "semantic.bridgeaudit"),
    (_("Warnings"), "warning", "episodic.timelinewarning"),
    (_("Sources"), "library_books", "sync.knowledgesource"),
    (_("Syncs"), "sync", "sync.syncrun"),
    (_("Items"), "article", "sync.knowledgeitem"),
    (_("Pointer conflicts"), "link_off", "sync.pointerconflict"),
    (_("Calls"), "forum", "llm.modelcall"),
    (_("Prices"), "sell", "llm.price"),
    (_("Tool statistics"), "construction", "llm.toolrunday"),
    (_("Embedding spaces"), "hub", "llm.embeddingspace"),
    (_("Hub events"), "bolt", "events.event"),
    (_("Deliveries"), "outbox", "events.delivery"),
    (_("Schedules"), "schedule", "django_q.schedule"),
    (_("Queued tasks"), "hourglass_empty", "django_q.ormq"),
    (_("Failed tasks"), "error", "django_q.failure"),
)
# The places of *Access*: title, and the model of a list or the name of a page.
ACCESS: tuple[tuple[Words, str], ...] = (
    (_("API keys"), "access"),
    (_("People who sign in"), "auth.user"),
    (_("Invitations"), "invitations"),
    (_("Memberships"), "core.membership"),
    (_("Names of households"), "core.displayname"),
    (_("Roles"), "auth.group"),
)

# What each list is called: app.model -> title.
LIST_NAMES = {
    **{model: title for title, _icon, model in LISTS},
    **{model: title for title, model in ACCESS},
    **{model: title for model, (title, _icon, page) in OF_JOBS.items() if page == "changelist"},
    "core.apikey": ACCESS[0][0],
}


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the navigation: what operators come for, and below it the lists of what is stored."""
    badges = cache(partial(badge_of, request))
    docs = {"title": gettext("Developer"), "icon": "api", "link": reverse("docs")}
    jobs = [item for name in JOBS if (item := job_item(request, name, badges))]
    lists = [list_item(request, title, icon, model, badges) for title, icon, model in LISTS]
    return [{"items": [*jobs, docs]}, {"title": gettext("Data"), "collapsible": True, "items": lists}]


def tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the tabs of pages and lists: those of *Access*."""
    models = ["core.apikey", *(name for _title, name in ACCESS if "." in name)]
    return [{"page": "access", "models": models, "items": access_places(request)}]


def access_places(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the places of *Access* that the viewer may see."""
    found = []
    for title, name in ACCESS:
        is_list = "." in name
        if may_view(request, name) if is_list else PAGES_BY_NAME[name].is_allowed(request):
            link = reverse(f"admin:{name.replace('.', '_')}_changelist" if is_list else f"cockpit_{name}")
            found.append({"title": title, "link": link, "active": request.path == link})
    return found


def job_item(request: HttpRequest, name: str, badges: Badges) -> dict[str, Any] | None:
    """Return the entry of a page, or of a list among the jobs; None where there is no such page."""
    if name in OF_JOBS:
        title, icon, of_model = OF_JOBS[name]
        link = reverse(f"admin:{name.replace('.', '_')}_{of_model}")
        return {**list_item(request, title, icon, name, badges), "link": link}
    page = PAGES_BY_NAME.get(name)
    if page is None:
        return None
    is_visible, link = page.is_allowed(request), reverse("admin:index" if name == "now" else f"cockpit_{name}")
    if name == "access" and (places := access_places(request)):
        is_visible, link = True, places[0]["link"]
    return {
        "title": page.title,
        "icon": page.icon,
        "link": link,
        "permission": lambda _request: is_visible,
        **(badges("semantic.conflict") if is_visible and name == "decisions" else {}),
        **(badges("now") if name == "now" else {}),
    }


def list_item(request: HttpRequest, title: Words, icon: str, model: str, badges: Badges) -> dict[str, Any]:
    """Return the entry of the list of a model."""
    is_visible = may_view(request, model)
    return {
        "title": title,
        "icon": icon,
        "link": reverse(f"admin:{model.replace('.', '_')}_changelist"),
        "permission": lambda _request: is_visible,
        **(badges(model) if is_visible else {}),
    }


def badge_of(request: HttpRequest, model: str) -> dict[str, Any]:
    """Return the badge of a list, for what waits for the person who sees it."""
    if model == "now":
        # As many as *Now* counts, in the colour of the worst.
        problems = () if is_bound(request.user) else seen_problems(request).problems
        variant = {ProblemSeverity.CRITICAL: "danger", ProblemSeverity.WARNING: "warning"}
        return {"badge": len(problems), "badge_variant": variant.get(problems[0].severity, "info")} if problems else {}
    if model == "events.delivery" and (failed := outbox_status().failed):
        return {"badge": failed, "badge_variant": "danger"}
    if model == "semantic.conflict" and (waiting := open_conflicts(operator_access(request), MAX_BADGE + 1)):
        return {"badge": f"{MAX_BADGE}+" if waiting > MAX_BADGE else waiting, "badge_variant": "warning"}
    if model == "sync.pointerconflict" and (differ := conflict_list(operator_access(request)).open().count()):
        return {"badge": differ, "badge_variant": "warning"}
    if model == "episodic.timelinewarning" and (active := active_warnings().count()):
        return {"badge": active, "badge_variant": "danger"}
    has_model = settings.MEMORYHUB.chat.primary is not None
    if model == "llm.budgetday" and has_model and (not_closed := open_breakers()):
        return {"badge": not_closed, "badge_variant": "danger"}
    return {}


def environment(request: HttpRequest) -> list[str]:
    """Return the label at the top of every page, by which hubs are distinguished."""
    config = settings.MEMORYHUB
    if config.debug:
        return [gettext("Debug mode"), "danger"]
    if config.https:
        return [urlsplit(config.public_url or "").netloc, "success"]
    return [gettext("Local"), "info"]
