"""Trying a rule on two texts: as it is stored, or with edits that are not saved."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold import widgets

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import system_access
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.rules import services
from apps.rules.domain.documents.inheritance import resolve
from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.forms import SEEN, TRIAL, RuleForm
from apps.rules.models import MergeRule
from apps.rules.registry import active_rules
from apps.rules.schemas.outputs import EvaluateOutput, render_evaluation


def decimal_field(label: Words, help_text: Words = "", **options: Any) -> forms.FloatField:
    """Build a field for a number."""
    widget = widgets.UnfoldAdminDecimalFieldWidget({"step": "any"})
    return forms.FloatField(label=label, help_text=help_text, widget=widget, **options)


def text_field(label: Words) -> forms.CharField:
    """Build a field for the content of a memory."""
    return forms.CharField(label=label, widget=widgets.UnfoldAdminTextareaWidget({"rows": 3}))


def source_field(label: Words) -> forms.CharField:
    """Build a field for the source of a memory."""
    return forms.CharField(label=label, initial="user", max_length=64, widget=widgets.UnfoldAdminTextInputWidget())


class TrialForm(forms.Form):
    """Two memories to try a rule on."""

    existing = text_field(_("The stored memory"))
    candidate = text_field(_("The new memory"))
    existing_importance = decimal_field(_("Importance of the stored one"), initial=0.5, min_value=0, max_value=1)
    candidate_importance = decimal_field(_("Importance of the new one"), initial=0.5, min_value=0, max_value=1)
    existing_source = source_field(_("Source of the stored one"))
    candidate_source = source_field(_("Source of the new one"))
    hours = decimal_field(
        _("Hours between them"),
        _("Negative: the new one is about something earlier."),
        initial=24,
        min_value=-876_000,
        max_value=876_000,
    )


def read_trial(posted: Any) -> TrialForm:
    """Return the form of two memories: filled, and to be decided about, where both texts were sent."""
    is_sent = posted is not None and bool(posted.get(f"{TRIAL}-existing") or posted.get(f"{TRIAL}-candidate"))
    return TrialForm(posted if is_sent else None, prefix=TRIAL)


def try_rule(rule: RuleConfig, form: TrialForm) -> EvaluateOutput | str:
    """Return the decision of a rule about the two memories of the form; the detail of the error where it fails."""
    data, now = form.cleaned_data, utcnow(SYSTEM_CLOCK)
    try:
        records = {
            key: MemoryRecord(key, data[key], when, data[f"{key}_importance"], data[f"{key}_source"])
            for key, when in (("existing", now), ("candidate", now + timedelta(hours=data["hours"])))
        }
        found = services.evaluate_rule(rule, active_rules().version, records["candidate"], records["existing"])
    except MemoryHubError as error:
        return say(str(error.detail))
    return render_evaluation(system_access(), found)


def trial_context(posted: Any, rule: MergeRule | None) -> dict[str, Any]:
    """Return what a trial shows: its form, whether edits are tried, and the result or the problems."""
    trial, edits = read_trial(posted), None
    if posted is not None and SEEN in posted:  # edits of the rule that were sent along
        edits = RuleForm(posted, instance=rule, is_draft=True)
    context: dict[str, Any] = {"trial": trial, "edits": edits, "result": None, "problems": []}
    if edits is not None and not edits.is_valid():
        return context | {"problems": edits.problems()}
    if trial.is_bound and trial.is_valid():
        # The rule with what it inherits: with the edits if there are any; None where it cannot be used.
        known = active_rules()
        chosen = known.rules.get(rule.name) if rule else None
        if edits is not None:
            name = edits.document["name"]
            chosen = resolve(name, {**known.documents, name: edits.document})
        found = gettext("This rule cannot be used as it is stored.") if chosen is None else try_rule(chosen, trial)
        context |= {"problems": [found]} if isinstance(found, str) else {"result": found}
    return context
