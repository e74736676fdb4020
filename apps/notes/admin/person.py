"""The page of one person's notes: a search as an assistant would have it, the settings, and the state of the index."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold import widgets

from apps.core.admin.kit import operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.words import Words
from apps.notes.domain.settings import SETTINGS, Range
from apps.notes.selectors import config_get, index_status, notes_search
from apps.notes.services import config_update

MAX_QUERY_CHARS = 1_000
PAGE = "admin:notes_noteversion_person"
# Setting -> what a person reads beside it.
TEXTS: dict[str, tuple[Words, Words]] = {
    "enabled": (_("Automatic memory"), _("Whether conversations of this person are read at all.")),
    "autoExtract": (_("Learn after each turn"), _("Whether facts are extracted when a turn is complete.")),
    "flushThreshold": (_("Flush at"), _("The share of the context window at which new facts are saved immediately.")),
    "extractIntervalSeconds": (
        _("Minimum seconds between extractions"),
        _("A turn that ends sooner waits for the next one."),
    ),
    "minNewMessages": (_("Minimum new messages"), _("With fewer than this, it waits for more.")),
    "llmGatingEnabled": (_("Quality gate by a model"), _("A model decides for each fact whether it is worth keeping.")),
    "llmGatingModel": (_("Model for the gate"), ""),
    "llmExtractionEnabled": (
        _("Extraction by a model"),
        _("A model finds the facts; if it does not answer, patterns are used."),
    ),
    "llmExtractionModel": (_("Model for extraction"), ""),
    "llmExtractionMaxMessages": (_("Maximum messages for the model"), _("The latest messages of a turn.")),
    "llmCompactionEnabled": (
        _("Compaction by a model"),
        _("A model drafts a shorter MEMORY.md when there are many facts."),
    ),
    "llmCompactionModel": (_("Model for compaction"), ""),
    "llmCompactionFactThreshold": (_("Compact above this many facts"), ""),
    "llmCompactionAutoApply": (_("Apply drafts automatically"), _("If this is off, each draft waits for a decision.")),
}


class WhoseForm(forms.Form):
    """Whose notes, and what to look for in them."""

    user_id = forms.CharField(
        label=_("User"), max_length=MAX_IDENTIFIER_CHARS, widget=widgets.UnfoldAdminTextInputWidget
    )
    q = forms.CharField(
        label=_("Search for"),
        required=False,
        max_length=MAX_QUERY_CHARS,
        widget=widgets.UnfoldAdminTextInputWidget,
    )


def form_field(name: str) -> forms.Field:
    """Return the form field of a setting."""
    setting, (label, help_text) = SETTINGS[name], TEXTS[name]
    if isinstance(setting.default, bool):
        return forms.BooleanField(
            label=label, help_text=help_text, required=False, widget=widgets.UnfoldBooleanSwitchWidget
        )
    if isinstance(setting.default, str):
        return forms.CharField(label=label, help_text=help_text, widget=widgets.UnfoldAdminTextInputWidget)
    limits: Range = setting.metadata["range"]
    if isinstance(setting.default, int):
        return forms.IntegerField(
            label=label,
            help_text=help_text,
            min_value=int(limits.least),
            max_value=int(limits.greatest),
            widget=widgets.UnfoldAdminIntegerFieldWidget,
        )
    return forms.FloatField(
        label=label,
        help_text=help_text,
        min_value=limits.least,
        max_value=limits.greatest,
        widget=widgets.UnfoldAdminDecimalFieldWidget(attrs={"step": "any"}),
    )


def person_page(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Answer the page; a POST changes settings."""
    whose = WhoseForm(request.GET if "user_id" in request.GET else None)
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("Notes of a person"),
        "opts": model_admin.opts,
        "form": whose,
        "media": model_admin.media + whose.media,
        "may_change": model_admin.has_restore_permission(request),
    }
    if whose.is_bound and whose.is_valid():
        access, user = operator_access(request), whose.cleaned_data["user_id"]
        try:
            read = config_get(access, user)
            fields = {name: form_field(name) for name in SETTINGS}
            for field in fields.values():
                # What counts as changed is what differs from what the page showed, not from what holds since.
                field.show_hidden_initial = True
            form_class = type("SettingsForm", (forms.Form,), fields)
            initial = {name: getattr(read.config, setting.name) for name, setting in SETTINGS.items()}
            form: forms.Form = form_class(request.POST if request.method == "POST" else None, initial=initial)
            if request.method == "POST" and context["may_change"] and form.is_valid():
                changed = {name: form.cleaned_data[name] for name in form.changed_data}
                if changed:
                    config_update(access=access, user_id=user, values=changed)
                messages.success(request, gettext("Settings saved.") if changed else gettext("Nothing was changed."))
                return HttpResponseRedirect(f"{reverse(PAGE)}?{urlencode({'user_id': user})}")
            context |= {
                "user_id": user,
                "settings": form,
                "problems": read.problems,
                "index": index_status(access, user),
                "search": notes_search(access, user, whose.cleaned_data["q"]) if whose.cleaned_data["q"] else None,
            }
        except MemoryHubError as error:
            messages.error(request, error.detail)
    return TemplateResponse(request, "notes/person.html", context)
