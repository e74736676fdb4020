"""The page of the queue, its list, and one decision: what is shown, without any change."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.decisions.filters import MAX_NAME_CHARS, address_of, read_filter, tabs_of
from apps.cockpit.decisions.tokens import own_review
from apps.cockpit.pages import render_fragment, render_page
from apps.core.admin.kit import may_view, operator_access
from apps.semantic import services
from apps.semantic.domain.review_queue import QueueFilter, ReviewStep
from apps.semantic.selectors import Conflict, MemoryStatus

FIRST_ROWS = 50
MAX_PK_DIGITS = 18
# Key, step, name of the button.
BUTTONS = (
    ("a", ReviewStep.ACCEPT, _("Accept")),
    ("1", ReviewStep.CANDIDATE, _("Keep candidate")),
    ("2", ReviewStep.EXISTING, _("Keep existing")),
    ("3", ReviewStep.BOTH, _("Keep both")),
    ("r", ReviewStep.REVERT, _("Revert")),
)


def may_read(request: HttpRequest) -> bool:
    """Return whether the viewer may see the words of memories."""
    return request.user.has_perm("semantic.view_memory")


def may_review(request: HttpRequest) -> bool:
    """Return whether the viewer may decide."""
    return request.user.has_perm("semantic.change_conflict")


def decisions_page(request: HttpRequest) -> HttpResponse:
    """Show the queue, and the decision that the address names or the first one."""
    wanted = visible_filter(request)
    context = list_context(request, wanted)
    rows: list[Conflict] = context["rows"]
    key = as_key(request.GET.get("receipt")) or (rows[0].pk if rows else None)
    receipt = services.receipt_at(operator_access(request), key) if key else None
    return render_page(
        request,
        "cockpit/decisions/page.html",
        gettext("Decisions"),
        **context | ({} if receipt is None else decision_context(request, receipt)),
        buttons=BUTTONS,
        max_name=MAX_NAME_CHARS,
        is_first=as_key(request.GET.get("receipt")) is None,
    )


def decisions_list(request: HttpRequest) -> HttpResponse:
    """Show the list and the tabs as they are now."""
    context = list_context(request, visible_filter(request))
    return render_fragment(request, "cockpit/decisions/list.html", **context, is_fragment=True)


def decision_detail(request: HttpRequest, key: int) -> HttpResponse:
    """Show one decision: both memories, what each step would do, the receipt. Raises Http404."""
    receipt = services.receipt_at(operator_access(request), key)
    if receipt is None:
        raise Http404
    return render_fragment(request, "cockpit/decisions/decision.html", **decision_context(request, receipt))


def visible_filter(request: HttpRequest) -> QueueFilter:
    """Return the filter of the address. Words of memories filter only for those who may read them."""
    wanted = read_filter(request.GET)
    if wanted.words and not may_read(request):
        return QueueFilter(view=wanted.view, rule=wanted.rule, user_id=wanted.user_id, household_id=wanted.household_id)
    return wanted


def list_context(request: HttpRequest, wanted: QueueFilter) -> dict[str, Any]:
    """Return what the list shows: a page of rows, and whether there are more."""
    access, shown = operator_access(request), as_key(request.GET.get("shown")) or FIRST_ROWS
    shown = min(max(shown, FIRST_ROWS), services.MAX_LISTED - 1)
    keys = services.queue_ids(access, wanted, limit=shown + 1)
    return {
        "rows": with_words(services.queue_rows(access, keys[:shown])),
        "shown": shown,
        "has_more": len(keys) > shown and shown < services.MAX_LISTED - 1,
        "is_full": len(keys) > shown,
        "wanted": wanted,
        "list_url": address_of(wanted, "cockpit_decisions_list"),
        "may_read": may_read(request),
        "may_review": may_review(request),
        **tabs_of(request, wanted),
    }


def with_words(rows: list[Any]) -> list[Any]:
    """Return rows of the queue, each with the status of both memories in words."""
    for row in rows:
        row.candidate_words = gettext(MemoryStatus(row.candidate_status).label).lower()
        row.existing_words = gettext(MemoryStatus(row.existing_status).label).lower()
    return rows


def decision_context(request: HttpRequest, receipt: Conflict) -> dict[str, Any]:
    """Return what is shown of one decision."""
    reads, rows = may_read(request), services.memories_of(receipt)
    steps = services.allowed_steps(receipt) if may_review(request) else set()
    buttons = [
        {
            "key": key,
            "step": step.value,
            "name": name,
            "consequences": services.describe_consequences(receipt, step.value, may_read=reads, rows=rows),
        }
        for key, step, name in BUTTONS
        if step.value in steps
    ]
    access, alike = operator_access(request), 0
    if ReviewStep.ACCEPT in steps:
        alike = services.count_alike(access, services.alike_of(receipt))
    return {
        "page": services.receipt_context(receipt, may_read=reads, rows=rows),
        "receipt": receipt,
        "may_read": reads,
        "steps": buttons,
        "alike": alike,
        "alike_more": alike >= services.MAX_ALIKE,
        "trial": services.trial_of(receipt) if reads and may_view(request, "rules.mergerule") else None,
        "own_review": own_review(request, receipt) if may_review(request) else "",
        "full_url": reverse("admin:semantic_conflict_change", args=[receipt.pk]),
    }


def as_key(text: str | None) -> int | None:
    """Return a number that an address says; None for what is no key of a row."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= MAX_PK_DIGITS
    return int(text) if text is not None and is_number else None
