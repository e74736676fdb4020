"""Conflicts in the admin: the queue of decisions, and the page on which a person accepts, overrides or reverts one."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    choice_badge,
    column,
    confirmation,
    for_each,
    link,
    may_view,
    moment,
    operator_access,
    required_permission,
    scope_column,
    stacked,
    two_lines,
)
from apps.core.admin.lists import LongList, as_uuid
from apps.core.admin.steps import make_dialog, step_action
from apps.core.pages.sayings import say
from apps.core.words import Counted, Words
from apps.semantic.admin.bulk_revert import bulk_revert_page
from apps.semantic.admin.memories import can_read_memories
from apps.semantic.admin.queue_filters import FILTERS, ConflictList, ReceiptPaginator
from apps.semantic.conflicts.receipt_page import (
    OUTCOME_COLOURS,
    allowed_steps,
    describe_consequences,
    describe_for_revert,
    receipt_context,
)
from apps.semantic.conflicts.review import Winner, conflict_accept, conflict_override, conflict_revert
from apps.semantic.conflicts.trial import trial_of
from apps.semantic.models import Conflict, ConflictOutcome, Memory
from apps.semantic.selectors import conflict_get

# Each word of a search is a condition on two texts.
MAX_SEARCH_WORDS = 8
# A longer number may not fit the column.
MAX_PK_DIGITS = 18
HIDDEN = _("You need the permission to view memories to see its contents.")
ACCEPTED = Counted("%(count)s decision accepted.", "%(count)s decisions accepted.", "count")
OVERRIDDEN = Counted("%(count)s decision overridden.", "%(count)s decisions overridden.", "count")
REVERTED = Counted("%(count)s decision reverted.", "%(count)s decisions reverted.", "count")
SIDES = {"candidate": _("Candidate"), "existing": _("Existing"), "result": _("Merged")}
STEPS = {
    "accept_this": "accept", "keep_candidate": "candidate", "keep_existing": "existing", "keep_both": "both",
    "revert_this": "revert",
}  # fmt: skip
SIDE_ROW = (
    '<span class="mh-side {}"><span class="mh-side-name">{}<span class="mh-side-status">{}</span></span>'
    '<span class="mh-excerpt" title="{}">{}</span></span>'
)


class ConsequencesForm(BaseDialogForm):
    """A dialog that says what its step would do."""

    form_before_template = "semantic/consequences.html"
    step = ""

    def get_before_template_context(self, request: HttpRequest, object_id: int | str | None = None) -> dict[str, Any]:
        receipt = find_receipt(request, object_id)
        if receipt is None:
            return {"sentences": []}
        may_read = can_read_memories(request)
        return {"sentences": describe_consequences(receipt, self.step, may_read=may_read)}


def review_step(
    name: str, title: Words, button: Words, service: Callable[..., Any], said: Counted, icon: str | None = None
) -> Any:
    """Return the button of a receipt's page that takes one of STEPS after a dialog. name: of the method."""
    dialog = make_dialog(title, "", button, type("StepForm", (ConsequencesForm,), {"step": STEPS[name]}))
    return step_action(name, dialog, service, said=said, permission="review", icon=icon)


@admin.register(Conflict)
class ConflictAdmin(LongList, ReadOnly, ModelAdmin):
    """Receipts are read-only; reviews of them go through the services."""

    list_display = ["memories", "outcome_now", "decided_by", "rule_then", "whose", "when"]
    list_filter = FILTERS
    list_filter_sheet = True
    list_disable_select_all = True  # each decision is a transaction of its own; more of them: revert many
    paginator = ReceiptPaginator
    search_fields = ["uuid"]  # shows the box; `get_search_results` decides
    search_help_text = _("Words in either memory, or an id")
    actions = ["accept_chosen", "revert_chosen"]
    actions_list = ["revert_many"]
    actions_detail = list(STEPS)
    change_form_template = "semantic/conflict.html"
    fields: list[str] = []
    empty_text = _("No decisions are waiting for review. Reviewed decisions are under Filters, state.")

    class Media:
        css = {"all": ["semantic/conflicts.css"]}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ConflictList]:
        return ConflictList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        return Conflict.objects.visible_to(operator_access(request))

    def get_list_display(self, request: HttpRequest) -> list[str]:
        first, *others = self.list_display
        return [first if can_read_memories(request) else "memories_hidden", *others]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conflict], search_term: str
    ) -> tuple[QuerySet[Conflict], bool]:
        """Find a receipt by its id or the id of a memory, else those whose two memories contain all words."""
        term = search_term.replace("\x00", "").strip()
        words = term.split()[:MAX_SEARCH_WORDS]
        if (uuid := as_uuid(term)) is not None:
            # By number: each of the conditions has an index then.
            memory = list(Memory.objects.filter(uuid=uuid).values_list("pk", flat=True))
            about = Q(candidate__in=memory) | Q(existing__in=memory) | Q(result__in=memory)
            return queryset.filter(Q(uuid=uuid) | about), False
        if words and not can_read_memories(request):
            return queryset.none(), False
        for word in words:
            queryset = queryset.filter(Q(candidate__content__icontains=word) | Q(existing__content__icontains=word))
        return queryset, False

    # Columns

    memories_hidden = column(
        _("Memories"), lambda receipt: format_html('<span title="{}">{}</span>', HIDDEN, receipt.uuid)
    )
    outcome_now = column(
        _("Outcome"),
        lambda receipt: stacked(choice_badge(receipt, "outcome", OUTCOME_COLOURS), receipt.get_state_display()),
        ordering="outcome",
    )
    decided_by = column(
        _("Decided by"),
        lambda receipt: two_lines(
            say(receipt.strategy), gettext("confidence %(share)s") % {"share": f"{receipt.confidence:.2f}"}
        ),
        ordering="confidence",
    )
    whose = scope_column()
    when = column(
        _("Decided at"), lambda receipt: two_lines(moment(receipt.at), receipt.get_origin_display()), ordering="id"
    )

    @display(description=_("Memories"))
    def memories(self, receipt: Any) -> SafeString:
        rows = []
        for side in ("candidate", "existing", "result"):
            if side == "result" and receipt.outcome != ConflictOutcome.MERGED:
                continue
            text, status = getattr(receipt, f"{side}_text"), getattr(receipt, f"{side}_status")
            rows.append(("mh-active" if status == "active" else "", SIDES[side], say(status), text, text))
        return format_html_join("", SIDE_ROW, rows)

    @display(description=_("Rule"))
    def rule_then(self, receipt: Any) -> SafeString | str:
        if not receipt.rule_name:
            return NOTHING
        version = gettext("version %(number)s") % {"number": receipt.rule_version}
        if receipt.rule_change is None:
            return two_lines(receipt.rule_name, version)
        name = link("admin:rules_mergeruleversion_change", receipt.rule_change, receipt.rule_name)
        return stacked(format_html('<span class="mh-cell">{}</span>', name), version)

    # The page of a receipt

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Conflict | None:
        return find_receipt(request, object_id)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        receipt: Conflict | None = kwargs.get("obj")
        if receipt is not None:
            page = receipt_context(receipt, may_read=can_read_memories(request))
            may_try = can_read_memories(request) and may_view(request, "rules.mergerule")
            trial = trial_of(receipt) if may_try else None
            context |= {"page": page, "trial": trial, "title": gettext("Conflict"), "subtitle": None}
        return super().render_change_form(request, context, *args, **kwargs)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the buttons of the steps that can be taken."""
        receipt = find_receipt(request, object_id)
        steps = allowed_steps(receipt) if receipt else set()
        actions = super().get_actions_detail(request, object_id)
        return [one for one in actions if STEPS[one.method.original_function_name] in steps]

    accept_this = review_step(
        "accept_this", _("Accept this decision?"), _("Accept"), conflict_accept, ACCEPTED, icon="check"
    )
    keep_candidate = review_step(
        "keep_candidate",
        _("Keep the candidate?"),
        _("Keep candidate"),
        partial(conflict_override, winner=Winner.CANDIDATE),
        OVERRIDDEN,
    )
    keep_existing = review_step(
        "keep_existing",
        _("Keep the existing memory?"),
        _("Keep existing"),
        partial(conflict_override, winner=Winner.EXISTING),
        OVERRIDDEN,
    )
    keep_both = review_step(
        "keep_both",
        _("Keep both memories?"),
        _("Keep both"),
        partial(conflict_override, winner=Winner.BOTH),
        OVERRIDDEN,
    )
    revert_this = review_step(
        "revert_this", _("Revert this decision?"), _("Revert"), conflict_revert, REVERTED, icon="undo"
    )

    # Actions of the list

    @action(description=_("Accept"), icon="check", permissions=["review"])
    def accept_chosen(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> None:
        for_each(request, newest_first(queryset), conflict_accept, said=ACCEPTED)

    @action(description=_("Revert"), icon="undo", permissions=["review"])
    def revert_chosen(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> TemplateResponse | None:
        uuids, may_read = newest_first(queryset), can_read_memories(request)
        question = confirmation(
            request,
            self,
            (conflict_get(operator_access(request), uuid) for uuid in uuids),
            describe=partial(describe_for_revert, may_read=may_read),
            title=gettext("Revert decisions"),
            question=gettext(
                "Revert these decisions? Their memories return to their earlier state, and memories that the "
                "decisions created are deleted."
            ),
            button=gettext("Revert"),
        )
        if question is None:
            for_each(request, uuids, conflict_revert, said=REVERTED)
        return question

    @action(
        description=_("Revert many"), icon="settings_backup_restore", permissions=["review"], url_path="revert-many"
    )
    def revert_many(self, request: HttpRequest) -> HttpResponse:
        return bulk_revert_page(self, request, operator_access(request))

    has_review_permission = required_permission("semantic.change_conflict")


def find_receipt(request: HttpRequest, object_id: Any) -> Conflict | None:
    """Return a receipt by its number or its id, None where there is none."""
    text, access = str(object_id), operator_access(request)
    is_number = text.isdecimal() and len(text) <= MAX_PK_DIGITS
    by = Q(pk=int(text)) if is_number else Q(uuid=as_uuid(text))  # no receipt has the id None
    uuid = Conflict.objects.visible_to(access).filter(by).values_list("uuid", flat=True).first()
    return conflict_get(access, uuid) if uuid else None


def newest_first(receipts: QuerySet[Conflict]) -> list[UUID]:
    """Return ids in the order in which a chain of decisions about the same memories can be undone."""
    return list(receipts.order_by("-id").values_list("uuid", flat=True))
