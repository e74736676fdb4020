"""The page of the queue, its filters, its list, and one decision; and what undoes something.

That is in the hands of the browser: signed for the account that did it, so that nothing is kept.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.pages import render_fragment, render_page
from apps.core.admin.kit import may_view, operator_access
from apps.core.admin.lists import comparable
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.words import Words
from apps.semantic import services
from apps.semantic.domain.review_queue import Alike, QueueFilter, QueueView, ReviewStep
from apps.semantic.selectors import Conflict, MemoryStatus
from apps.semantic.services import Review

SALT = "cockpit.decisions"
REVIEWS, SHOWN, RUN = "reviews", "shown", "run"
PARAMETERS = {"view": "view", "rule": "rule", "q": "words", "user": "user_id", "household": "household_id"}
TITLES = {
    QueueView.ASKED: _("To decide"),
    QueueView.NOTICED: _("Noticed"),
    QueueView.WEAK: _("Not certain"),
    QueueView.LOG: _("Log"),
    QueueView.MERGED: _("Merged"),
    QueueView.MINE: _("Mine"),
}
SESSION_KEY = "decision_views"
MAX_SAVED, MAX_NAME_CHARS = 8, 40
# More open decisions of a saved filter are not counted on every page.
MAX_COUNTED = 1_000
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


class Run(NamedTuple):
    """A run that accepts or undoes all that is alike. at: when it began; None before that."""

    alike: Alike
    at: datetime | None


def sign(request: HttpRequest, kind: str, value: Any) -> str:
    """Return a token of a kind that only this account can use."""
    return signing.dumps(value, salt=salt_of(request, kind), compress=True)


def unsign(request: HttpRequest, kind: str, token: str) -> Any | None:
    """Return what a token of a kind says, None for one of another account or a forged one."""
    try:
        return signing.loads(token, salt=salt_of(request, kind))
    except signing.BadSignature:
        return None


def salt_of(request: HttpRequest, kind: str) -> str:
    """Return what binds tokens to an account and a use."""
    return f"{SALT}.{kind}.{request.user.pk}"


def reviews_token(request: HttpRequest, reviews: Sequence[Review]) -> str:
    """Return the token that undoes some reviews, the last one first."""
    return sign(request, REVIEWS, [[str(one.receipt), one.at.isoformat()] for one in reviews])


def read_reviews(request: HttpRequest, token: str) -> list[Review] | None:
    """Return the reviews that a token undoes, None for another token."""
    found = unsign(request, REVIEWS, token)
    return None if found is None else [Review(UUID(uuid), datetime.fromisoformat(at)) for uuid, at in found]


def run_token(request: HttpRequest, alike: Alike, at: datetime | None) -> str:
    """Return the token of a run; before it began, that of what was shown to the person."""
    moment = None if at is None else at.isoformat()
    return sign(request, SHOWN if at is None else RUN, [alike.as_json(), moment])


def read_run(request: HttpRequest, token: str, *kinds: str) -> Run | None:
    """Return the run of a token of one of the kinds, None for another token."""
    for kind in kinds:
        found = unsign(request, kind, token)
        if found is not None:
            alike, at = found
            return Run(Alike.from_json(alike), None if at is None else datetime.fromisoformat(at))
    return None


def own_review(request: HttpRequest, receipt: Conflict) -> str:
    """Return the token that undoes what the viewer did about a decision; blank where that is nothing."""
    by_viewer = receipt.reviewed_by == operator_access(request).actor and receipt.reviewed_at is not None
    if not by_viewer or receipt.reviewed_at is None or receipt.state in {"open", "outdated"}:
        return ""
    if receipt.origin in {"override", "revert"}:  # reviewed with the decision that it is about
        return ""
    return reviews_token(request, [Review(receipt.uuid, receipt.reviewed_at)])


def read_filter(data: Any) -> QueueFilter:
    """Return the filter that a query string or a form says; what it cannot mean is left out."""
    values = {field: comparable(data.get(name))[:MAX_IDENTIFIER_CHARS] for name, field in PARAMETERS.items()}
    chosen = values.pop("view")
    view = QueueView(chosen) if chosen in TITLES else QueueView.ASKED
    return QueueFilter(view=view, **values)


def query_of(wanted: QueueFilter) -> dict[str, str]:
    """Return a filter as the parameters of an address, without those that filter nothing."""
    values = {name: str(getattr(wanted, field)) for name, field in PARAMETERS.items()}
    return {name: value for name, value in values.items() if value and (name, value) != ("view", QueueView.ASKED)}


def address_of(wanted: QueueFilter, name: str = "cockpit_decisions") -> str:
    """Return the address of the page, or of the fragment of a name, that shows what a filter means."""
    query = query_of(wanted)
    return f"{reverse(name)}{f'?{urlencode(query)}' if query else ''}"


def tabs_of(request: HttpRequest, wanted: QueueFilter) -> dict[str, list[dict[str, Any]]]:
    """Return the tabs of the views, of the rules, and of the filters that the person saved.

    Those of rules lead to what waits, with counts; in the log, to what each rule decided. count: None where counting
    would cost too much; `1000+` for more than that.
    """
    access = operator_access(request)
    counts = services.queue_counts(access)

    def tab(title: Words, of: QueueFilter, count: int | None, at_most: int, saved: str = "") -> dict[str, Any]:
        shown = None if count is None else f"{at_most}+" if count >= at_most else str(count)
        return {
            "title": title,
            "url": address_of(of),
            "count": shown,
            "is_current": of == wanted,
            "saved": saved,
        }

    views = [
        tab(title, QueueFilter(view=view), counts.views.get(view), services.MAX_COUNTED)
        for view, title in TITLES.items()
    ]
    in_log = wanted.view in {QueueView.LOG, QueueView.MERGED}
    of_rules = dict.fromkeys(one.name for one in services.decided_rules(access) if one.name) if in_log else counts.rules
    view = wanted.view if in_log else QueueView.ASKED
    rules = [
        tab(rule, QueueFilter(view=view, rule=rule), count, services.MAX_COUNTED) for rule, count in of_rules.items()
    ]
    saved = []
    for name, query in saved_views(request).items():
        own = read_filter(query)
        count = None if own.words else services.queue_count(access, own, MAX_COUNTED)
        saved.append(tab(name, own, count, MAX_COUNTED, name))
    return {"views": views, "rules": rules, "saved": saved}


def saved_views(request: HttpRequest) -> dict[str, dict[str, str]]:
    """Return the filters that the person saved in this session, by name."""
    found: dict[str, dict[str, str]] = request.session.get(SESSION_KEY, {})
    return found


def save_view(request: HttpRequest, name: str, wanted: QueueFilter) -> bool:
    """Save a filter under a name, in place of one with this name. Return whether there was room."""
    views = saved_views(request)
    if name not in views and len(views) >= MAX_SAVED:
        return False
    request.session[SESSION_KEY] = {**views, name: query_of(wanted)}
    return True


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
    rows: list[Any] = services.queue_rows(access, keys[:shown])
    for row in rows:
        row.candidate_words = gettext(MemoryStatus(row.candidate_status).label).lower()
        row.existing_words = gettext(MemoryStatus(row.existing_status).label).lower()
    return {
        "rows": rows,
        "shown": shown,
        "has_more": len(keys) > shown and shown < services.MAX_LISTED - 1,
        "is_full": len(keys) > shown,
        "wanted": wanted,
        "list_url": address_of(wanted, "cockpit_decisions_list"),
        "may_read": may_read(request),
        "may_review": may_review(request),
        **tabs_of(request, wanted),
    }


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
