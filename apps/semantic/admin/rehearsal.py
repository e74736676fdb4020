"""The admin's page of a rehearsal: what the unsaved form of a rule would do, before it is saved.

The page of the rule sends its form here when it is sound. The values go back and forth as hidden fields: to be
rehearsed in another scope, to be saved, or to be edited further. Nothing is written here.
"""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold import widgets

from apps.core.admin.kit import moment
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope, system_access
from apps.rules.selectors import MergeRule
from apps.rules.services import EDIT_AGAIN, NEEDED_TO_REHEARSE, RuleForm
from apps.semantic.conflicts.near_pairs import DEFAULT_PAIRS, MAX_PAIRS
from apps.semantic.conflicts.rehearsal import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    Difference,
    Rehearsal,
    ReplayReport,
    rehearse_document,
)
from apps.semantic.domain.rehearsal import NO_CONFLICT, ReplayedOutcome
from apps.semantic.models import Conflict, ConflictOutcome
from apps.semantic.schemas.rehearsal import find_shown_partner, render_excerpt

PREFIX = "rehearsal"
MAX_SHOWN, MAX_NAMES = 100, 5
TONES = {
    NO_CONFLICT: None,
    "noticed": "info",
    "superseded_existing": "warning",
    "kept_existing": "success",
    "merged": "primary",
    "rejected": "danger",
}


def _identifier(label: str, help_text: str = "") -> forms.CharField:
    widget = widgets.UnfoldAdminTextInputWidget()
    return forms.CharField(
        label=label, help_text=help_text, required=False, max_length=MAX_IDENTIFIER_CHARS, strip=False, widget=widget
    )


def _number(label: str, default: int, most: int) -> forms.IntegerField:
    widget = widgets.UnfoldAdminIntegerFieldWidget()
    return forms.IntegerField(label=label, initial=default, min_value=1, max_value=most, widget=widget)


class ExtentForm(forms.Form):
    """Whose decisions to replay, and how many."""

    user_id = _identifier("User", "Blank: decisions about everybody's memories.")
    household_id = _identifier("Household")
    persona_id = _identifier("Persona")
    limit = _number("Decisions at most, the newest first", DEFAULT_LIMIT, MAX_LIMIT)
    neighbours = forms.BooleanField(
        label="Also compare near neighbours of a user",
        help_text="Active memories that no decision was recorded about.",
        required=False,
        widget=widgets.UnfoldBooleanWidget(),
    )
    max_pairs = _number("Pairs of neighbours at most", DEFAULT_PAIRS, MAX_PAIRS)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("neighbours") and not cleaned.get("user_id"):
            self.add_error("user_id", "Say whose memories to compare.")
        return cleaned

    def extent(self) -> dict[str, Any]:
        """What `rehearse_document` takes besides the document."""
        given = self.cleaned_data if self.is_bound else {name: field.initial for name, field in self.fields.items()}
        names = (given["user_id"], given["household_id"], given["persona_id"])
        return {
            "scope": Scope(*(name or None for name in names)),
            "limit": given["limit"],
            "include_neighbours": bool(given["neighbours"]),
            "max_pairs": given["max_pairs"],
        }


def rehearse_rule(request: HttpRequest, pk: int) -> HttpResponse:
    """What the posted form of a rule would do. Somebody who only follows the address gets to the rule."""
    if not request.user.has_perms(("rules.change_mergerule", *NEEDED_TO_REHEARSE)):
        raise PermissionDenied
    rule = get_object_or_404(MergeRule, pk=pk)
    page = reverse("admin:rules_mergerule_change", args=[pk])
    if request.method != "POST":
        return HttpResponseRedirect(page)
    form = RuleForm(request.POST, instance=rule)
    if not form.is_valid():
        messages.error(request, " ".join(str(message) for problems in form.errors.values() for message in problems))
        return HttpResponseRedirect(page)
    return TemplateResponse(request, "semantic/rehearse.html", _context(request, rule, form, page))


def _context(request: HttpRequest, rule: MergeRule, form: Any, page: str) -> dict[str, Any]:
    extent = ExtentForm(request.POST if f"{PREFIX}-limit" in request.POST else None, prefix=PREFIX)
    result = _rehearsed(form.document, extent) if not extent.is_bound or extent.is_valid() else None
    return {
        **admin.site.each_context(request),
        "title": f"Rehearse {rule.name}",
        "opts": MergeRule._meta,
        "rule": rule,
        "media": form.media + extent.media,
        "extent": extent,
        "entered": [(name, request.POST[name]) for name in form.fields if name in request.POST],
        "back": EDIT_AGAIN,
        "to_rule": format_html('formaction="{}"', page),
        **(_shown(result) if isinstance(result, Rehearsal) else {"problem": result}),
    }


def _rehearsed(document: dict[str, Any], extent: ExtentForm) -> Rehearsal | str:
    """The rehearsal; a sentence when it cannot be made."""
    try:
        return rehearse_document(system_access(), document, **extent.extent())
    except MemoryHubError as error:
        return error.detail


def _shown(rehearsal: Rehearsal) -> dict[str, Any]:
    sections = [_section("decisions", "Decisions that would differ", rehearsal.decisions)]
    if rehearsal.neighbours is not None:
        sections.append(_section("pairs", "Neighbours that would be treated otherwise", rehearsal.neighbours))
    return {"rehearsal": rehearsal, "tiles": list(_tiles(rehearsal)), "sections": sections}


def _tiles(rehearsal: Rehearsal) -> Iterator[dict[str, Any]]:
    tally, neighbours = rehearsal.decisions.tally, rehearsal.neighbours
    changed = rehearsal.changed_rules
    yield _tile("replay", "Decisions replayed", tally.replayed, _bound(rehearsal.decisions))
    yield _tile("compare_arrows", "Would differ", tally.differ, "from what the receipts say", tally.differ > 0)
    yield _tile("edit_note", "Because of this change", tally.due_to_change, "the others differ already")
    yield _tile("rule", "Rules that change", len(changed), _few(changed))
    if neighbours is not None:
        yield _tile("group_work", "Pairs compared", neighbours.tally.replayed, _bound(neighbours))
        differ = neighbours.tally.differ
        yield _tile("compare_arrows", "Pairs that would differ", differ, "from what is decided now", differ > 0)


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:MAX_NAMES]) or "none"
    return f"{shown} and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else shown


def _tile(icon: str, label: str, value: int, note: str, is_warning: bool = False) -> dict[str, Any]:
    return {"icon": icon, "label": label, "value": value, "note": note, "tone": "warn" if is_warning else ""}


def _bound(replayed: ReplayReport) -> str:
    return "all that there are" if replayed.is_complete else "there are more: raise the limit"


def _section(name: str, title: str, replayed: ReplayReport) -> dict[str, Any]:
    differences = replayed.differences
    return {
        "name": name,
        "title": title,
        "replayed": replayed.tally.replayed,
        "transitions": [
            (_fate_label(before), _fate_label(after), count)
            for (before, after), count in replayed.tally.transitions.most_common()
        ],
        "rows": [_row(difference) for difference in differences[:MAX_SHOWN]],
        "left_out": max(0, len(differences) - MAX_SHOWN),
    }


def _row(difference: Difference) -> dict[str, Any]:
    receipt, changed = difference.receipt, difference.changed
    return {
        "before": _fate_label(difference.before.outcome),
        "after": _fate_label(changed.outcome),
        "candidate": render_excerpt(difference.case.candidate)["excerpt"],
        "existing": render_excerpt(find_shown_partner(difference))["excerpt"],
        "more": len(difference.case.partners) - 1,
        "merged": changed.merged,
        "reason": changed.reason,
        "rules": _rules(difference.before, changed),
        "is_due": difference.is_due_to_change,
        "when": receipt and moment(receipt.at),
        "state": receipt and receipt.state,
        "link": receipt and _link(receipt.pk),
    }


def _fate_label(outcome: str) -> dict[str, str | None]:
    label = "No conflict" if outcome == NO_CONFLICT else str(ConflictOutcome(outcome).label)
    return {"text": label, "type": TONES.get(outcome)}


def _rules(before: ReplayedOutcome, after: ReplayedOutcome) -> str:
    return after.rule if before.rule == after.rule else f"{before.rule} → {after.rule}"


def _link(pk: int) -> SafeString | str:
    """The address of a receipt's page, where there is one."""
    return reverse("admin:semantic_conflict_change", args=[pk]) if admin.site.is_registered(Conflict) else ""
