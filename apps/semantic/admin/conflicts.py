"""Conflicts in the admin: the queue of decisions to look at, and the page on which a person accepts or changes one."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    after_dialog,
    badge,
    confirmation,
    for_each,
    found_or_404,
    moment,
    operator_access,
    two_lines,
)
from apps.semantic.admin.bulk_revert import bulk_revert_page
from apps.semantic.admin.history import may
from apps.semantic.admin.queue_filters import FILTERS, ConflictList, ReceiptPaginator
from apps.semantic.admin.receipt_page import OUTCOME_COLOURS, conflict_page, consequences, may_decide
from apps.semantic.conflicts.review import Winner, conflict_accept, conflict_override, conflict_revert
from apps.semantic.models import Conflict, ConflictOutcome, Memory
from apps.semantic.selectors import conflict_get

# Each word of a search is a condition on two texts.
MAX_SEARCH_WORDS = 8
HIDDEN = "Its words need the permission to view memories."
SIDES = ("candidate", "existing", "result")


class ConsequencesForm(BaseDialogForm):
    """A dialog that says what its step would do."""

    form_before_template = "semantic/consequences.html"
    step = ""

    def get_before_template_context(self, request: HttpRequest, object_id: int | str | None = None) -> dict[str, Any]:
        receipt = _receipt(request, object_id)
        return {"sentences": consequences(receipt, self.step, may_read=may(request, "view")) if receipt else []}


def _dialog(step: str, title: str, button: str) -> ActionDialog:
    form = type("StepForm", (ConsequencesForm,), {"step": step})
    return ActionDialog(title=title, description="", form_class=form, form_submit_text=button)


ACCEPT = _dialog("accept", "Accept this decision?", "Accept")
CANDIDATE = _dialog("candidate", "Let the candidate stand?", "Keep candidate")
EXISTING = _dialog("existing", "Let the existing memory stand?", "Keep existing")
BOTH = _dialog("both", "Let both memories stand?", "Keep both")
REVERT = _dialog("revert", "Revert this decision?", "Revert")
STEPS = {
    "accept_this": "accept", "keep_candidate": "candidate", "keep_existing": "existing", "keep_both": "both",
    "revert_this": "revert",
}  # fmt: skip
NOUN = ("decision", "decisions")


@admin.register(Conflict)
class ConflictAdmin(ReadOnly, ModelAdmin):
    """Receipts are read; what a person makes of them goes through the services."""

    list_display = ["memories", "outcome_now", "decided_by", "rule_then", "whose", "when"]
    list_display_links = ["memories"]
    list_filter = FILTERS
    list_filter_submit = True
    list_filter_sheet = True
    list_fullwidth = True
    list_disable_select_all = True  # each decision is a transaction of its own; more of them: revert many
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # they would count all receipts, once for each choice
    paginator = ReceiptPaginator
    ordering = ["-id"]
    search_fields = ["uuid"]  # shows the box; `get_search_results` decides
    search_help_text = "Words of either memory, or an id"
    actions = ["accept_chosen", "revert_chosen"]
    actions_list = ["revert_many"]
    actions_detail = list(STEPS)
    change_form_template = "semantic/conflict.html"
    fields: list[str] = []
    empty_text = "No decision waits for a person. Those that were looked at are under Filters, state."

    class Media:
        css = {"all": ["semantic/conflicts.css"]}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ConflictList]:
        return ConflictList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        return Conflict.objects.visible_to(operator_access(request))

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        shown = self.memories if may(request, "view") else self.memories_hidden
        return [shown, *self.list_display[1:]]

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> list[Any]:
        return [list_display[0]]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conflict], search_term: str
    ) -> tuple[QuerySet[Conflict], bool]:
        return _matching(queryset, search_term.replace("\x00", ""), may_read=may(request, "view")), False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Conflict | None:
        return _receipt(request, object_id)

    # Columns

    @display(description="Memories")
    def memories(self, receipt: Any) -> SafeString:
        return format_html_join("", _ROW, (_cell(receipt, side) for side in _sides_shown(receipt)))

    @display(description="Memories")
    def memories_hidden(self, receipt: Any) -> SafeString:
        return format_html('<span title="{}">{}</span>', HIDDEN, receipt.uuid)

    @display(description="Outcome", ordering="outcome")
    def outcome_now(self, receipt: Conflict) -> SafeString:
        label = badge(receipt.get_outcome_display(), OUTCOME_COLOURS[ConflictOutcome(receipt.outcome)])
        return format_html('{}<span class="mh-sub">{}</span>', label, receipt.get_state_display())

    @display(description="Decided by", ordering="confidence")
    def decided_by(self, receipt: Conflict) -> SafeString:
        return two_lines(receipt.strategy, f"confidence {receipt.confidence:.2f}")

    @display(description="Rule")
    def rule_then(self, receipt: Any) -> SafeString | str:
        if not receipt.rule_name:
            return NOTHING
        version = f"version {receipt.rule_version}"
        if receipt.rule_change is None:
            return two_lines(receipt.rule_name, version)
        url = reverse("admin:rules_mergeruleversion_change", args=[receipt.rule_change])
        link = format_html('<a class="mh-link" href="{}">{}</a>', url, receipt.rule_name)
        return format_html('<span class="mh-cell">{}</span><span class="mh-sub">{}</span>', link, version)

    @display(description="Whose", ordering="user_id")
    def whose(self, receipt: Conflict) -> SafeString:
        return two_lines(receipt.user_id, " / ".join(filter(None, (receipt.household_id, receipt.persona_id))))

    @display(description="Decided at", ordering="id")
    def when(self, receipt: Conflict) -> SafeString:
        return two_lines(moment(receipt.at), receipt.get_origin_display())

    # The page of a receipt

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        receipt: Conflict | None = kwargs.get("obj")
        if receipt is not None:
            context |= {"page": conflict_page(receipt, may_read=may(request, "view")), "title": "Conflict"}
            context["subtitle"] = None
        return super().render_change_form(request, context, *args, **kwargs)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """The steps that apply to the receipt."""
        receipt = _receipt(request, object_id)
        fitting = may_decide(receipt) if receipt else set()
        actions = super().get_actions_detail(request, object_id)
        return [one for one in actions if STEPS[one.method.original_function_name] in fitting]

    @action(description="Accept", icon="check", permissions=["view", "review"], dialog=ACCEPT)
    def accept_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._take_step(request, object_id, conflict_accept, "accepted")

    @action(description="Keep candidate", permissions=["view", "review"], dialog=CANDIDATE)
    def keep_candidate(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._override(request, object_id, Winner.CANDIDATE)

    @action(description="Keep existing", permissions=["view", "review"], dialog=EXISTING)
    def keep_existing(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._override(request, object_id, Winner.EXISTING)

    @action(description="Keep both", permissions=["view", "review"], dialog=BOTH)
    def keep_both(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._override(request, object_id, Winner.BOTH)

    @action(description="Revert", icon="undo", permissions=["view", "review"], dialog=REVERT)
    def revert_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._take_step(request, object_id, conflict_revert, "reverted")

    def _override(self, request: HttpRequest, object_id: str, winner: Winner) -> HttpResponse:
        return self._take_step(request, object_id, partial(conflict_override, winner=winner), "decided otherwise")

    def _take_step(self, request: HttpRequest, object_id: str, service: Callable[..., Any], done: str) -> HttpResponse:
        receipt = found_or_404(self.get_object(request, object_id))
        for_each(request, [receipt.uuid], service, noun=NOUN, done=done)
        return after_dialog(request, reverse("admin:semantic_conflict_change", args=[receipt.pk]))

    # The list

    @action(description="Accept", icon="check", permissions=["review"])
    def accept_chosen(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> None:
        for_each(request, _newest_first(queryset), conflict_accept, noun=NOUN, done="accepted")

    @action(description="Revert", icon="undo", permissions=["review"])
    def revert_chosen(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> TemplateResponse | None:
        words = {
            "title": "Revert decisions",
            "question": "Revert these decisions? Their memories stand as before, and what they made is deleted.",
            "button": "Revert",
        }
        asked = confirmation(request, self, queryset.order_by("-id"), **words)
        if asked is None:
            for_each(request, _newest_first(queryset), conflict_revert, noun=NOUN, done="reverted")
        return asked

    @action(description="Revert many", icon="settings_backup_restore", permissions=["review"], url_path="revert-many")
    def revert_many(self, request: HttpRequest) -> HttpResponse:
        return bulk_revert_page(self, request, operator_access(request))

    def has_review_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("semantic.change_conflict")


_ROW = (
    '<span class="mh-side {}"><span class="mh-side-name">{}<span class="mh-side-status">{}</span></span>'
    '<span class="mh-excerpt" title="{}">{}</span></span>'
)


def _cell(receipt: Any, side: str) -> tuple[str, str, str, str, str]:
    """Class, name, status now, and text of a memory."""
    text, status = getattr(receipt, f"{side}_text"), getattr(receipt, f"{side}_status")
    stands = status == "active"
    name = "Merged" if side == "result" else side.capitalize()
    return "mh-stands" if stands else "", name, "stands" if stands else status, text, text


def _sides_shown(receipt: Conflict) -> tuple[str, ...]:
    return SIDES if receipt.outcome == ConflictOutcome.MERGED else SIDES[:2]


def _receipt(request: HttpRequest, object_id: Any) -> Conflict | None:
    """A receipt by its number or its id; none where there is no such."""
    receipts = Conflict.objects.visible_to(operator_access(request))
    by = Q(pk=int(object_id)) if str(object_id).isdecimal() and len(str(object_id)) < 19 else _by_id(str(object_id))
    uuid = receipts.filter(by).values_list("uuid", flat=True).first()
    return conflict_get(operator_access(request), uuid) if uuid else None


def _by_id(term: str) -> Q:
    try:
        return Q(uuid=UUID(term))
    except ValueError:
        return Q(pk__in=[])


def _matching(receipts: QuerySet[Conflict], term: str, *, may_read: bool) -> QuerySet[Conflict]:
    """Those with the id, or about the memory with it; else those whose memories have all words, each in either."""
    words = term.split()[:MAX_SEARCH_WORDS]
    try:
        uuid = UUID(term.strip())
    except ValueError:
        pass
    else:
        # By number: each of the conditions has an index then.
        memory = list(Memory.objects.filter(uuid=uuid).values_list("pk", flat=True))
        about = Q(candidate__in=memory) | Q(existing__in=memory) | Q(result__in=memory)
        return receipts.filter(Q(uuid=uuid) | about)
    if words and not may_read:
        return receipts.none()
    for word in words:
        receipts = receipts.filter(Q(candidate__content__icontains=word) | Q(existing__content__icontains=word))
    return receipts


def _newest_first(receipts: QuerySet[Conflict]) -> list[UUID]:
    """So that a chain of decisions about the same memories unwinds."""
    return list(receipts.order_by("-id").values_list("uuid", flat=True))
