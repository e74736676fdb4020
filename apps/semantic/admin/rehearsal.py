"""The admin's page of a rehearsal: what the unsaved form of a rule would change, before it is saved.

The page of the rule posts its form here when it is valid. The values go back and forth as hidden fields: to be
rehearsed in another scope, to be saved, or to be edited further. Nothing is written here.
"""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold import widgets

from apps.core.admin.kit import moment, operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Access, Scope
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.rules.selectors import MergeRule, document_mark
from apps.rules.services import EDIT_AGAIN, NEEDED_TO_REHEARSE, REHEARSE, REHEARSED, RuleForm
from apps.semantic.conflicts.near_pairs import DEFAULT_PAIRS, MAX_PAIRS
from apps.semantic.conflicts.rehearsal import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    Difference,
    Rehearsal,
    ReplayReport,
    rehearse_document,
)
from apps.semantic.domain.rehearsal import NO_CONFLICT
from apps.semantic.models import ConflictOutcome
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


def identifier_field(label: Words, help_text: Words = "") -> forms.CharField:
    """Return an optional field for a whole identifier."""
    widget = widgets.UnfoldAdminTextInputWidget()
    return forms.CharField(
        label=label, help_text=help_text, required=False, max_length=MAX_IDENTIFIER_CHARS, strip=False, widget=widget
    )


def limit_field(label: Words, default: int, most: int) -> forms.IntegerField:
    """Return a field for a number from 1 to `most`."""
    widget = widgets.UnfoldAdminIntegerFieldWidget()
    return forms.IntegerField(label=label, initial=default, min_value=1, max_value=most, widget=widget)


class ExtentForm(forms.Form):
    """Which decisions to replay, and how many."""

    user_id = identifier_field(_("User"), _("Leave blank for decisions about the memories of all users."))
    household_id = identifier_field(_("Household"))
    persona_id = identifier_field(_("Persona"))
    limit = limit_field(_("Maximum decisions, newest first"), DEFAULT_LIMIT, MAX_LIMIT)
    neighbours = forms.BooleanField(
        label=_("Also compare near neighbours of a user"),
        help_text=_("Active memories without a recorded decision about them."),
        required=False,
        widget=widgets.UnfoldBooleanWidget(),
    )
    max_pairs = limit_field(_("Maximum pairs of neighbours"), DEFAULT_PAIRS, MAX_PAIRS)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("neighbours") and not cleaned.get("user_id"):
            self.add_error("user_id", gettext("Choose whose memories to compare."))
        return cleaned

    def extent(self) -> dict[str, Any]:
        """Return the arguments of `rehearse_document` besides the document; the defaults of a form not sent yet."""
        values = self.cleaned_data if self.is_bound else {name: field.initial for name, field in self.fields.items()}
        names = (values["user_id"], values["household_id"], values["persona_id"])
        return {
            "scope": Scope(*(name or None for name in names)),
            "limit": values["limit"],
            "include_neighbours": bool(values["neighbours"]),
            "max_pairs": values["max_pairs"],
        }


def rehearse_rule(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the posted form of a rule would change; a GET is redirected to the rule."""
    if not request.user.has_perms(("rules.change_mergerule", *NEEDED_TO_REHEARSE)):
        raise PermissionDenied
    rule = get_object_or_404(MergeRule, pk=pk)
    page = reverse("admin:rules_mergerule_change", args=[pk])
    if request.method != "POST":
        return HttpResponseRedirect(page)
    form = RuleForm(request.POST, instance=rule)
    if not form.is_valid():
        # Back to the form, which shows what was entered and what is wrong with it.
        return HttpResponseRedirect(f"{page}?{REHEARSE}=1", preserve_request=True)
    extent = ExtentForm(request.POST if f"{PREFIX}-limit" in request.POST else None, prefix=PREFIX)
    context = {
        **admin.site.each_context(request),
        "title": gettext("Rehearse %(name)s") % {"name": rule.name},
        "opts": MergeRule._meta,
        "rule": rule,
        "media": form.media + extent.media,
        "extent": extent,
        "entered": [
            *((name, request.POST[name]) for name in form.fields if name in request.POST),
            (REHEARSED, document_mark(form.document)),
        ],
        "back": EDIT_AGAIN,
        "to_rule": format_html('formaction="{}"', page),
    }
    if not extent.is_bound or extent.is_valid():
        context |= rehearsal_context(operator_access(request), form.document, extent)
    return TemplateResponse(request, "semantic/rehearse.html", context)


def rehearsal_context(access: Access, document: dict[str, Any], extent: ExtentForm) -> dict[str, Any]:
    """Rehearse a rule document, and return what the page shows of it: the results, or the problem."""
    try:
        rehearsal = rehearse_document(access, document, **extent.extent())
    except MemoryHubError as error:
        return {"problem": say(str(error.detail))}
    sections = [section_of("decisions", gettext("Decisions that would differ"), rehearsal.decisions)]
    if rehearsal.neighbours is not None:
        sections.append(
            section_of("pairs", gettext("Neighbours that would be treated differently"), rehearsal.neighbours)
        )
    return {"rehearsal": rehearsal, "tiles": list(tiles_of(rehearsal)), "sections": sections}


def tiles_of(rehearsal: Rehearsal) -> Iterator[dict[str, Any]]:
    """Return the figures at the top of the page."""

    def tile(icon: str, label: str, value: int, note: str, tone: str = "") -> dict[str, Any]:
        return {"icon": icon, "label": label, "value": value, "note": note, "tone": tone}

    def extent_of(replayed: ReplayReport) -> str:
        return gettext("all that exist") if replayed.is_complete else gettext("there are more: raise the limit")

    decisions, pairs, rules = rehearsal.decisions, rehearsal.neighbours, rehearsal.changed_rules
    differ, due = decisions.tally.differ, decisions.tally.due_to_change
    yield tile("replay", gettext("Decisions replayed"), decisions.tally.replayed, extent_of(decisions))
    yield tile(
        "compare_arrows", gettext("Would differ"), differ, gettext("from the receipts"), "warn" if differ else ""
    )
    yield tile("edit_note", gettext("Because of this change"), due, gettext("the others differ already"))
    names = ", ".join(rules[:MAX_NAMES]) or gettext("none")
    if len(rules) > MAX_NAMES:
        names = gettext("%(names)s and %(count)s more") % {"names": names, "count": len(rules) - MAX_NAMES}
    yield tile("rule", gettext("Rules that change"), len(rules), names)
    if pairs is not None:
        differ = pairs.tally.differ
        yield tile("group_work", gettext("Pairs compared"), pairs.tally.replayed, extent_of(pairs))
        yield tile(
            "compare_arrows",
            gettext("Pairs that would differ"),
            differ,
            gettext("from current decisions"),
            "warn" if differ else "",
        )


def section_of(name: str, title: str, replayed: ReplayReport) -> dict[str, Any]:
    """Return what differs in a replay: counts of each change of outcome, and a row for each of the first ones."""
    differences = replayed.differences
    return {
        "name": name,
        "title": title,
        "replayed": replayed.tally.replayed,
        "transitions": [
            (outcome_label(before), outcome_label(after), count)
            for (before, after), count in replayed.tally.transitions.most_common()
        ],
        "rows": [row_of(difference) for difference in differences[:MAX_SHOWN]],
        "left_out": max(0, len(differences) - MAX_SHOWN),
    }


def row_of(difference: Difference) -> dict[str, Any]:
    """Return one difference, with a link to its receipt."""
    receipt, before, changed = difference.receipt, difference.before, difference.changed
    return {
        "before": outcome_label(before.outcome),
        "after": outcome_label(changed.outcome),
        "candidate": render_excerpt(difference.case.candidate)["excerpt"],
        "existing": render_excerpt(find_shown_partner(difference))["excerpt"],
        "more": len(difference.case.partners) - 1,
        "merged": changed.merged,
        "reason": say(changed.reason),
        "rules": changed.rule if before.rule == changed.rule else f"{before.rule} → {changed.rule}",
        "is_due": difference.is_due_to_change,
        "when": receipt and moment(receipt.at),
        "state": receipt and say(receipt.state),
        "link": reverse("admin:semantic_conflict_change", args=[receipt.pk]) if receipt else "",
    }


def outcome_label(outcome: str) -> dict[str, str | None]:
    """Return text and colour of the badge of an outcome."""
    label = gettext("No conflict") if outcome == NO_CONFLICT else gettext(ConflictOutcome(outcome).label)
    return {"text": label, "type": TONES.get(outcome)}
