"""The page on which an operator reverts many decisions: choose, look at what that is, confirm, watch."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from unfold import widgets

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Access, Scope
from apps.semantic.admin.history import may
from apps.semantic.conflicts.bulk_revert import Selection, conflicts_revert, decisions_in, enqueue_revert, run_status
from apps.semantic.conflicts.counts import decided_rules
from apps.semantic.models import Conflict, ReviewState

SALT = "semantic.bulk_revert"
SHOWN = 10
# What a request has time for; more is done in the background.
AT_ONCE = 50


class BulkForm(forms.Form):
    """Which decisions to revert."""

    rule = forms.ChoiceField(required=False, label="Rule and version", widget=widgets.UnfoldAdminSelectWidget)
    since = forms.SplitDateTimeField(
        required=False, label="Decided from", widget=widgets.UnfoldAdminSplitDateTimeVerticalWidget
    )
    until = forms.SplitDateTimeField(
        required=False, label="Decided before", widget=widgets.UnfoldAdminSplitDateTimeVerticalWidget
    )
    user_id = forms.CharField(
        required=False,
        label="Only of the user",
        max_length=MAX_IDENTIFIER_CHARS,
        widget=widgets.UnfoldAdminTextInputWidget,
    )
    with_accepted = forms.BooleanField(
        required=False, label="Also what a person has accepted", widget=widgets.UnfoldBooleanWidget
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["rule"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = _rule_choices()

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                data["selection"] = _selection(data)
            except InvalidInputError as error:
                raise forms.ValidationError(error.detail) from error
        return data


def bulk_revert_page(model_admin: Any, request: HttpRequest, access: Access) -> HttpResponse:
    """Choosing and looking are GET, and change nothing; only the confirmed POST reverts."""
    if request.method == "POST":
        return _confirmed(request, access)
    run = _run(request)
    form = BulkForm(request.GET if request.GET and not run else None)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Revert many decisions",
        "opts": model_admin.opts,
        "form": form,
        "media": model_admin.media + form.media,
        "may_read": may(request, "view"),
        "shown": SHOWN,
        **(_progress(request, access, run) if run else _preview(form, access)),
    }
    return TemplateResponse(request, "semantic/revert_many.html", context)


def _rule_choices() -> list[tuple[str, str]]:
    choices, last = [("", "Any")], None
    for rule in decided_rules():
        if rule.name != last:
            choices.append((f":{rule.name}", f"{rule.name}, all versions"))
        choices.append((f"{rule.version}:{rule.name}", f"{rule.name}, version {rule.version}"))
        last = rule.name
    return choices


def _selection(data: dict[str, Any]) -> Selection:
    version, _, name = data["rule"].partition(":")
    return Selection(
        rule_name=name,
        rule_version=int(version) if version else None,
        since=data["since"],
        until=data["until"],
        scope=Scope(user_id=data["user_id"] or None),
        with_accepted=data["with_accepted"],
    )


def _preview(form: BulkForm, access: Access) -> dict[str, Any]:
    if not (form.is_bound and form.is_valid()):
        return {}
    newest = Conflict.objects.order_by("-id").values_list("id", flat=True).first()
    # What is decided from now on was not looked at.
    selection = replace(form.cleaned_data["selection"], last=newest or 0)
    every = decisions_in(access, replace(selection, with_accepted=True))
    accepted = every.filter(state=ReviewState.ACCEPTED).count()
    chosen = decisions_in(access, selection)
    sample = chosen.select_related("candidate", "existing").newest_first()
    return {
        "in_force": every.count(),
        "accepted": accepted,
        "count": chosen.count(),
        "sample": list(sample.defer("candidate__lexemes", "existing__lexemes")[:SHOWN]),
        "token": signing.dumps(selection.as_json(), salt=SALT),
        "at_once": AT_ONCE,
    }


def _confirmed(request: HttpRequest, access: Access) -> HttpResponse:
    here = reverse("admin:semantic_conflict_revert_many")
    token = request.POST.get("token", "")
    selection = _signed(token)
    if selection is None:
        messages.error(request, "Choose the decisions again: what was sent is not what this page offered.")
        return HttpResponseRedirect(here)
    if decisions_in(access, selection).count() > AT_ONCE:
        run = enqueue_revert(selection=selection, actor=access.actor)
        return HttpResponseRedirect(f"{here}?{urlencode({'run': str(run), 'of': token})}")
    _revert_now(request, access, selection)
    return HttpResponseRedirect(reverse("admin:semantic_conflict_changelist"))


def _revert_now(request: HttpRequest, access: Access, selection: Selection) -> None:
    done = conflicts_revert(access=access, selection=selection, limit=AT_ONCE)
    for refusal in done.refused:
        messages.warning(request, f"{refusal.uuid}: {refusal.reason}")
    noun = "decision" if done.reverted == 1 else "decisions"
    messages.success(request, f"{done.reverted} {noun} reverted.")


def _signed(token: str) -> Selection | None:
    try:
        return Selection.from_json(signing.loads(token, salt=SALT))
    except signing.BadSignature:
        return None


def _run(request: HttpRequest) -> UUID | None:
    try:
        return UUID(request.GET.get("run", ""))
    except ValueError:
        return None


def _progress(request: HttpRequest, access: Access, run: UUID) -> dict[str, Any]:
    selection = _signed(request.GET.get("of", ""))
    status = run_status(run)
    left = decisions_in(access, selection).count() if selection else None
    return {"run": status, "left": left, "working": not (status.finished or status.failed)}
