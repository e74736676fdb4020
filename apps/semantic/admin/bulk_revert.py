"""The page on which an operator reverts many decisions: choose, preview, confirm, follow the progress."""

from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold import widgets

from apps.core.admin.lists import as_uuid
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Access, Scope
from apps.core.pages.sayings import say
from apps.core.words import Counted, Words
from apps.semantic.admin.memories import can_read_memories
from apps.semantic.conflicts.bulk_revert import Selection, conflicts_revert, decisions_in, enqueue_revert, run_status
from apps.semantic.conflicts.queue import decided_rules
from apps.semantic.conflicts.receipt_page import label_receipt
from apps.semantic.models import Conflict, ReviewState

SALT = "semantic.bulk_revert"
SHOWN = 10
REVERTED = Counted("%(count)s decision reverted.", "%(count)s decisions reverted.", "count")
# What a request has time for; more is done in the background.
AT_ONCE = 50


def moment_field(label: Words) -> forms.SplitDateTimeField:
    """Return a field for a day and a time, each with a name of its own for those who do not see the label."""
    names = {
        part: {"aria-label": format_lazy("{label}, {part}", label=label, part=word)}
        for part, word in (("date", _("date")), ("time", _("time")))
    }
    widget = widgets.UnfoldAdminSplitDateTimeVerticalWidget(date_attrs=names["date"], time_attrs=names["time"])
    return forms.SplitDateTimeField(required=False, label=label, widget=widget)


class BulkForm(forms.Form):
    """Which decisions to revert. The value of a rule is `version:name`, without a version for all."""

    rule = forms.ChoiceField(required=False, label=_("Rule and version"), widget=widgets.UnfoldAdminSelectWidget)
    since = moment_field(_("Decided from"))
    until = moment_field(_("Decided before"))
    user_id = forms.CharField(
        required=False,
        label=_("Only for this user"),
        max_length=MAX_IDENTIFIER_CHARS,
        widget=widgets.UnfoldAdminTextInputWidget,
    )
    with_accepted = forms.BooleanField(
        required=False, label=_("Include accepted decisions"), widget=widgets.UnfoldBooleanWidget
    )

    def __init__(self, access: Access, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices, last = [("", gettext("Any"))], None
        for rule in decided_rules(access):
            if rule.name != last:
                choices.append((f":{rule.name}", gettext("%(name)s, all versions") % {"name": rule.name}))
            choices.append(
                (
                    f"{rule.version}:{rule.name}",
                    gettext("%(name)s, version %(version)s") % {"name": rule.name, "version": rule.version},
                )
            )
            last = rule.name
        field = self.fields["rule"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        version, __, name = data["rule"].partition(":")
        try:
            data["selection"] = Selection(
                rule_name=name,
                rule_version=int(version) if version else None,
                since=data["since"],
                until=data["until"],
                scope=Scope(user_id=data["user_id"] or None),
                with_accepted=data["with_accepted"],
            )
        except InvalidInputError as error:
            raise forms.ValidationError(error.detail) from error
        return data


def bulk_revert_page(model_admin: Any, request: HttpRequest, access: Access) -> HttpResponse:
    """Answer the page. Choosing and previewing are GET and change nothing; only the confirmed POST reverts."""
    if request.method == "POST":
        return revert_confirmed(request, access)
    run = as_uuid(request.GET.get("run", ""))
    form = BulkForm(access, request.GET if request.GET and not run else None)
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("Revert many decisions"),
        "opts": model_admin.opts,
        "form": form,
        "media": model_admin.media + form.media,
        "may_read": can_read_memories(request),
        "shown": SHOWN,
    }
    if run:
        status, selection = run_status(run), read_token(request.GET.get("of", ""))
        receipts = Conflict.objects.visible_to(access).filter(uuid__in=[uuid for uuid, __ in status.reasons])
        labels = {str(receipt.uuid): label_receipt(receipt) for receipt in receipts}
        context |= {
            "run": status,
            "left": decisions_in(access, selection).count() if selection else None,
            "working": not (status.finished or status.failed),
            "refusals": [(uuid, labels.get(uuid, uuid), say(reason)) for uuid, reason in status.reasons],
        }
    elif form.is_bound and form.is_valid():
        context |= preview(form.cleaned_data["selection"], access)
    return TemplateResponse(request, "semantic/revert_many.html", context)


def preview(selection: Selection, access: Access) -> dict[str, Any]:
    """Return how many decisions a selection contains, the newest of them, and the token that confirms it."""
    newest = Conflict.objects.order_by("-id").values_list("id", flat=True).first()
    # Later decisions were not part of the preview.
    selection = replace(selection, last=newest or 0)
    every = decisions_in(access, replace(selection, with_accepted=True))
    chosen = decisions_in(access, selection)
    sample = chosen.select_related("candidate", "existing").newest_first()
    return {
        "in_force": every.count(),
        "accepted": every.filter(state=ReviewState.ACCEPTED).count(),
        "count": chosen.count(),
        "sample": list(sample.defer("candidate__lexemes", "existing__lexemes")[:SHOWN]),
        "token": signing.dumps(selection.as_json(), salt=SALT),
        "at_once": AT_ONCE,
    }


def revert_confirmed(request: HttpRequest, access: Access) -> HttpResponse:
    """Revert the selection of a preview, in the background when there are many, and redirect to the result."""
    here = reverse("admin:semantic_conflict_revert_many")
    token = request.POST.get("token", "")
    selection = read_token(token)
    if selection is None:
        messages.error(request, gettext("Choose the decisions again: this page did not offer that choice."))
        return HttpResponseRedirect(here)
    if decisions_in(access, selection).count() > AT_ONCE:
        run = enqueue_revert(selection=selection, actor=access.actor)
        return HttpResponseRedirect(f"{here}?{urlencode({'run': str(run), 'of': token})}")
    done = conflicts_revert(access=access, selection=selection, limit=AT_ONCE)
    for uuid, reason in done.refused:
        messages.warning(request, f"{uuid}: {say(reason)}")
    messages.success(request, REVERTED % {"count": done.reverted})
    return HttpResponseRedirect(reverse("admin:semantic_conflict_changelist"))


def read_token(token: str) -> Selection | None:
    """Return the selection that a preview signed, None for a forged token."""
    try:
        return Selection.from_json(signing.loads(token, salt=SALT))
    except signing.BadSignature:
        return None
