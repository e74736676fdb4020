"""Tiles of the first page: a number, and what is behind it. Each needs the permission to view what it counts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.activity.outbox import words_of
from apps.cockpit.pages import may_view_hub
from apps.core.admin.kit import dollars, filesize, may_view, moment, operator_access
from apps.core.models import ApiKey
from apps.core.pages.lists import listed
from apps.core.selectors import usable_keys
from apps.episodic.domain.alarms import Severity
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.selectors import (
    TimelineFigures,
    active_warnings,
    enabled_retention_count,
    recorded_by_day,
    timeline_figures,
)
from apps.events.selectors import OutboxStatus, outbox_status
from apps.llm.domain.breaker import Phase
from apps.llm.services import BudgetStatus, ConfiguredModel, budget_status, configured_models, guard_rules
from apps.semantic.selectors import MemoryStatus
from apps.semantic.services import (
    MAX_COUNTED,
    BridgeStatus,
    MemoryCounts,
    SearchStore,
    bridge_status,
    open_conflicts,
)

OVERDUE_SECONDS = 60
SEGMENT_STATES = (
    (SegmentState.OPEN, _("open")),
    (SegmentState.SEALING, _("being sealed")),
    (SegmentState.SEALED, _("sealed")),
    (SegmentState.ARCHIVED, _("archived")),
    (SegmentState.QUARANTINED, _("damaged")),
)
STATUS_TONES = {"active": "good", "superseded": "warn", "merged": "info", "rejected": "bad", "deleted": "bad"}


@dataclass(frozen=True)
class Tile:
    """A number, what it counts, and a link to details. tone: good, warn, bad or empty."""

    label: str
    value: str
    note: str
    icon: str
    link: str
    tone: str = ""


def tiles_for(request: HttpRequest, counts: MemoryCounts | None, now: datetime) -> Iterator[Tile]:
    """Yield the tiles that the viewer may see."""
    if counts is not None:
        yield memory_tile(counts)
    if may_view(request, "semantic.conflict"):
        yield conflict_tile(open_conflicts(operator_access(request)))
    if may_view_hub(request, "episodic.segment"):
        yield timeline_tile(timeline_figures())
    if may_view_hub(request, "episodic.timelinewarning"):
        yield warning_tile()
    if may_view_hub(request, "semantic.ingestion"):
        yield bridge_tile(bridge_status())
    if may_view_hub(request, "llm.budgetday"):
        rules = guard_rules()
        if configured := configured_models(rules=rules):
            yield spending_tile(budget_status(rules=rules), configured)
    if may_view_hub(request, "events.delivery"):
        yield from delivery_tiles(outbox_status())
    if may_view_hub(request, "core.apikey"):
        yield key_tile(now)


def memory_tile(counts: MemoryCounts) -> Tile:
    """Return how many memories are active, and how many are new."""
    active, link = counts.by_status[MemoryStatus.ACTIVE], reverse("admin:semantic_memory_changelist")
    note = ngettext("of %(n)s user", "of %(n)s users", counts.users) % {"n": f"{counts.users:,}"}
    if counts.saved:
        note = ngettext(
            "of %(n)s user, %(saved)s saved in 7 days", "of %(n)s users, %(saved)s saved in 7 days", counts.users
        ) % {"n": f"{counts.users:,}", "saved": f"{counts.saved:,}"}
    return Tile(gettext("Active memories"), f"{active:,}", note, "neurology", f"{link}?status__exact=active")


def conflict_tile(waiting: int) -> Tile:
    """Return how many decisions a person is asked about."""
    shown = f"{waiting:,}{'+' if waiting == MAX_COUNTED else ''}"
    note = gettext("not decided, or not certain") if waiting else gettext("nothing waits for you")
    link = reverse("cockpit_decisions")
    return Tile(gettext("Conflicts to review"), shown, note, "balance", link, "" if waiting else "good")


def timeline_tile(figures: TimelineFigures) -> Tile:
    """Return how many events there are, and how many cannot be read."""
    total, link = figures.hot + figures.archived, reverse("admin:episodic_segment_changelist")
    if figures.unreadable:
        note, tone = gettext("%(n)s more cannot be read") % {"n": f"{figures.unreadable:,}"}, "bad"
    else:
        note, tone = gettext("%(n)s of them archived") % {"n": f"{figures.archived:,}"}, ""
    return Tile(gettext("Timeline events"), f"{total:,}", note, "timeline", link, tone)


def warning_tile() -> Tile:
    """Return how many warnings of the timeline are active, and whether they suspend the bridge."""
    active = list(active_warnings())
    link = f"{reverse('admin:episodic_timelinewarning_changelist')}?state=active"
    if not active:
        return Tile(gettext("Timeline warnings"), "0", gettext("none active"), "warning", link, "good")
    suspends = any(warning.severity != Severity.NOTICE for warning in active)
    note = gettext("events do not become memories") if suspends else gettext("to be reviewed")
    return Tile(gettext("Timeline warnings"), f"{len(active):,}", note, "warning", link, "bad" if suspends else "warn")


def bridge_tile(status: BridgeStatus) -> Tile:
    """Return whether events of the timeline become memories, and how many are waiting."""
    link = reverse("admin:semantic_ingestion_changelist")
    tile = Tile(
        gettext("Events waiting to become memories"), f"{status.pending:,}", gettext("none waiting"), "move_down", link
    )
    if status.is_suspended:
        kinds = listed(sorted({words_of(one.kind) for one in status.suspended_by}))
        return replace(tile, note=gettext("suspended by a warning: %(kinds)s") % {"kinds": kinds}, tone="warn")
    if status.failed:
        note = gettext("%(n)s failed; review them") % {"n": f"{status.failed:,}"}
        return replace(tile, note=note, tone="bad", link=f"{link}?status__exact=failed")
    if status.pending:
        seconds = f"{status.timeline_lag_ms / 1000:,.0f}"
        return replace(tile, note=gettext("the oldest is %(seconds)s s old") % {"seconds": seconds})
    return tile if status.policies else replace(tile, note=gettext("no routing policy is switched on"))


def spending_tile(budget: BudgetStatus, configured: list[ConfiguredModel]) -> Tile:
    """Return what was spent on models today, and why calls are refused, if they are."""
    link = reverse("admin:llm_budgetday_changelist")
    tone = ""
    if budget.limit is None:
        note = gettext("no budget is set")
    else:
        share = {"percent": f"{budget.percent:.0f}", "amount": dollars(budget.limit)}
        note = gettext("%(percent)s%% of %(amount)s") % share
        tone = budget.tone.replace("good", "")
    if broken := [model.provider for model in configured if model.breaker.phase is not Phase.CLOSED]:
        note, tone = gettext("the breaker of %(provider)s is not closed") % {"provider": broken[0]}, "bad"
    elif refused := [model.model for model in configured if not model.passes]:
        note, tone = gettext("%(model)s has no price, so it is not called") % {"model": refused[0]}, "bad"
    return Tile(gettext("Spent on models today"), dollars(budget.spent), note, "account_balance_wallet", link, tone)


def delivery_tiles(status: OutboxStatus) -> Iterator[Tile]:
    """Yield how many deliveries are pending and failed."""
    link = reverse("admin:events_delivery_changelist")
    late = status.overdue_seconds > OVERDUE_SECONDS
    note = gettext("on their way to subscribers")
    if late:
        minutes = f"{status.overdue_seconds / 60:,.0f}"
        note = gettext("the longest has been overdue for %(minutes)s min") % {"minutes": minutes}
    pending = f"{link}?status__exact=pending"
    yield Tile(gettext("Pending deliveries"), f"{status.pending:,}", note, "outbox", pending, "warn" * late)
    note, tone = (gettext("none given up"), "good")
    if status.failed:
        note, tone = gettext("given up, waiting for review"), "bad"
    yield Tile(gettext("Failed deliveries"), f"{status.failed:,}", note, "error", f"{link}?status__exact=failed", tone)


def key_tile(now: datetime) -> Tile:
    """Return how many API keys are valid, and when one was used."""
    used = ApiKey.objects.exclude(last_used_at=None).order_by("-last_used_at").first()
    note = gettext("none used yet")
    if used:
        note = gettext("last used %(time)s") % {"time": moment(used.last_used_at)}
    return Tile(
        gettext("Valid API keys"), f"{usable_keys(now).count():,}", note, "key", reverse("admin:core_apikey_changelist")
    )


def status_rows(counts: MemoryCounts) -> list[dict[str, str]]:
    """Return each status with its share of the memories, in percent."""
    total = sum(counts.by_status.values()) or 1
    link = reverse("admin:semantic_memory_changelist")
    return [
        {
            "label": gettext(MemoryStatus(status).label),
            "count": f"{count:,}",
            "share": f"{100 * count / total:.1f}",
            "tone": STATUS_TONES[status],
            "link": f"{link}?status__exact={status}",
        }
        for status, count in counts.by_status.items()
    ]


def timeline_rows(request: HttpRequest, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield where the events of the timeline are stored, and how many are new."""
    if may_view_hub(request, "episodic.segment"):
        figures = timeline_figures()
        counts = [
            gettext("%(n)s %(state)s") % {"n": f"{figures.segments[state]:,}", "state": words}
            for state, words in SEGMENT_STATES
            if figures.segments[state]
        ]
        yield gettext("Segments"), listed(counts) or gettext("none yet")
        yield gettext("Events as rows"), f"{figures.hot:,}"
        yield gettext("Events in archived files"), f"{figures.archived:,}"
        yield gettext("Size of these files"), filesize(figures.archive_bytes)
        on = enabled_retention_count()
        policies = ngettext("%(count)s policy deletes", "%(count)s policies delete", on) % {"count": on}
        yield gettext("Retention"), policies if on else gettext("off")
    if may_view_hub(request, "episodic.timelineevent"):
        recorded = recorded_by_day(now)
        total = f"{recorded.total:,}"
        about = gettext("about %(n)s") % {"n": total}
        yield gettext("Recorded in the last 7 days"), about if recorded.is_rough else total


def search_rows(store: SearchStore) -> list[tuple[str, str]]:
    """Return the state of the vectors and of the search cache."""
    space = gettext("none yet")
    if store.space:
        named = {"model": store.space.model, "count": store.space.dimension}
        space = gettext("%(model)s, %(count)s dimensions") % named
    cache = ngettext("%(held)s of %(limit)s, %(n)s user", "%(held)s of %(limit)s, %(n)s users", store.cache_users) % {
        "held": filesize(store.cache_bytes),
        "limit": filesize(store.cache_limit),
        "n": f"{store.cache_users:,}",
    }
    return [
        (gettext("Embedding space"), space),
        (gettext("Active memories without a vector in it"), f"{store.missing:,}"),
        (gettext("Search cache of this process"), cache),
        (gettext("Memories, vectors and history on disk"), filesize(store.stored_bytes)),
    ]
