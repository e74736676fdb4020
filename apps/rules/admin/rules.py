"""Merge rules in the admin: the list as a flow, the editor, and trying a rule out."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action

from apps.core.admin.kit import choice_badge, moment, pretty_json
from apps.core.admin.steps import copy_columns
from apps.core.domain.errors import ConflictError, MemoryHubError
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.rules import services
from apps.rules.admin.editor import (
    editor_context,
    others_change,
    preview_context,
    rebase,
    saved_context,
)
from apps.rules.admin.flow import flow_context
from apps.rules.admin.trial import read_trial, trial_context
from apps.rules.admin.versions import ACTION_COLOURS
from apps.rules.admin.words import list_settings
from apps.rules.domain.documents.differences import setting_changes
from apps.rules.domain.documents.rule import BUILT_IN
from apps.rules.forms import (
    EDIT_AGAIN,
    NEEDED_TO_REHEARSE,
    REHEARSE,
    REHEARSED,
    SECTIONS,
    SEEN,
    SEPARATOR,
    SETTINGS,
    BaseRuleForm,
    RuleForm,
)
from apps.rules.models import MergeRule
from apps.rules.registry import active_rules
from apps.rules.selectors import document_mark, rule_history

SHOWN_VERSIONS = 20
# The button that puts the edits on top of what another person saved.
REBASE = "_rebase"
REBASED = _("These are your edits, applied to the current rule. Nothing is saved yet.")
NOT_REBASED = _("Your edits could not be applied to the current rule, so they are unchanged. Nothing is saved.")
NOT_SAVED_YET = _("Not saved yet: these are the values that you edited.")
NOT_REHEARSED = _("It was saved without a rehearsal of these settings.")

GENERAL = (None, {"fields": ["name", "extends", "enabled", "priority", "description", SEEN]})


@admin.register(MergeRule)
class MergeRuleAdmin(ModelAdmin):
    """Rules, changed by the services only, as over the API."""

    form = RuleForm
    list_fullwidth = True
    actions_submit_line = ["rehearse"]
    warn_unsaved_form = True
    change_form_template = "rules/editor.html"

    class Media:
        css = {"all": ["rules/admin.css", "rules/editor.css"]}

    def get_fieldsets(self, request: HttpRequest, obj: MergeRule | None = None) -> Any:
        """Return the fields of the form, which the template of the editor arranges."""
        sections = [[field for field in SETTINGS if field.startswith(f"{name}{SEPARATOR}")] for name in SECTIONS]
        return [GENERAL, *((name, {"fields": fields}) for name, fields in zip(SECTIONS, sections, strict=True))]

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses of the pages and of the parts that the editor asks for as it is edited."""

        def wrapped(view: Callable[..., HttpResponse]) -> Any:
            made: Any = self.admin_site.admin_view(view)
            made.model_admin = self
            return made

        return [
            path("preview/", wrapped(self.preview), name="rules_mergerule_preview_new"),
            path("<int:pk>/preview/", wrapped(self.preview), name="rules_mergerule_preview"),
            path("try/", wrapped(self.try_out), name="rules_mergerule_try_new"),
            path("<int:pk>/try/", wrapped(self.try_out), name="rules_mergerule_try_out"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the rules in the order in which they are asked."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Rules"),
            "opts": self.opts,
            "media": self.media,
            "has_add_permission": self.has_add_permission(request),
            **flow_context(request),
        }
        return TemplateResponse(request, "rules/flow.html", context)

    # Parts of the editor, which see edits that are not saved

    def preview(self, request: HttpRequest, pk: int | None = None) -> HttpResponse:
        """Show what the edits of the posted form change, in words and as lines of the document."""
        rule = None if pk is None else get_object_or_404(MergeRule, pk=pk)
        if not (self.has_add_permission(request) if rule is None else self.has_change_permission(request, rule)):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseRedirect(page_of(rule))
        form = RuleForm(request.POST, instance=rule, is_draft=True)
        return TemplateResponse(request, "rules/preview.html", {"preview": preview_context(form)})

    def try_out(self, request: HttpRequest, pk: int | None = None) -> HttpResponse:
        """Show what a rule would decide about two texts, with the edits that were sent along. Changes nothing."""
        rule = None if pk is None else get_object_or_404(MergeRule, pk=pk)
        if not (self.has_add_permission(request) if rule is None else self.has_view_permission(request, rule)):
            raise PermissionDenied
        posted = request.POST if request.method == "POST" else None
        context = trial_context(posted, rule)
        edits = context["edits"]
        entered = [(name, posted[name]) for name in edits.fields if name in posted] if edits and posted else []
        name = rule.name if rule else gettext("a new rule")
        context |= {
            **self.admin_site.each_context(request),
            "title": gettext("Try out %(name)s") % {"name": name},
            "opts": self.opts,
            "rule": rule,
            "name": name,
            "entered": entered,
            "media": self.media + context["trial"].media,
            "back": page_of(rule),
            "edit_again": EDIT_AGAIN,
            "may_edit": self.has_change_permission(request, rule),
        }
        return TemplateResponse(request, "rules/try.html", context)

    # Rehearsal: its page belongs to an app above this one and is found by the name of its address

    @action(description=_("Rehearse"), icon="theater_comedy", permissions=["rehearse"])
    def rehearse(self, request: HttpRequest, obj: MergeRule) -> None:
        """Add the button beside those that save; `save_model` redirects."""

    def has_rehearse_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may rehearse rules."""
        return request.user.has_perms(("rules.change_mergerule", *NEEDED_TO_REHEARSE))

    def get_form(self, request: HttpRequest, obj: MergeRule | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form, with the values that were entered when the user comes back from a rehearsal or a trial."""
        form = super().get_form(request, obj, change=change, **kwargs)
        entered = getattr(request, "entered", None)
        return form if entered is None or SEEN not in entered else type(form.__name__, (form,), {"entered": entered})

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Show the editor; to those who may not change the rule, its settings."""
        rule: MergeRule | None = kwargs.get("obj")
        may_edit = self.has_change_permission(request, rule) if rule else self.has_add_permission(request)
        form: BaseRuleForm = context["adminform"].form if may_edit else RuleForm(instance=rule)
        sent = getattr(request, "sent_trial", request.POST if request.method == "POST" else None)
        known, resolved = active_rules(), ""
        if rule:  # with all that it inherits, or why it cannot be used
            used = known.rules.get(rule.name)
            resolved = pretty_json(used.to_document()) if used else say(known.broken.get(rule.name, ""))
        context |= {
            **editor_context(form),
            "preview": saved_context(form) if may_edit else {},
            "may_edit": may_edit,
            "may_rehearse": may_edit and self.has_rehearse_permission(request),
            "rule": rule,
            "is_default": form.fields["extends"].disabled,
            "trial": read_trial(sent),
            "others_change": others_change(form) if may_edit and form.is_bound else None,
            "rebase": REBASE,
            "rehearsed": REHEARSED,
            "urls": urls_of(rule),
            "history": history_of(rule.name) if rule else [],
            "given": pretty_json(form.before) if rule else "",
            "resolved": resolved,
        }
        return super().render_change_form(request, context, *args, **kwargs)

    # Changes

    def save_model(self, request: HttpRequest, obj: MergeRule, form: Any, change: bool) -> None:
        """Save the rule by the services. Raises RehearsalRequestedError when it is to be rehearsed instead."""
        if REHEARSE in {*request.POST, *request.GET}:
            raise RehearsalRequestedError
        actor = f"admin:{request.user.get_username()}"
        is_unrehearsed = form.document != form.before and request.POST.get(REHEARSED) != document_mark(form.document)
        if change:
            services.rule_replace(document=form.document, actor=actor, expected_version=form.cleaned_data[SEEN])
        else:
            services.rule_register(document=form.document, actor=actor)
        copy_columns(MergeRule.objects.get(name=form.document["name"]), obj)
        if is_unrehearsed:
            messages.warning(request, NOT_REHEARSED)

    def delete_model(self, request: HttpRequest, obj: MergeRule) -> None:
        """Delete the rule by the services."""
        services.rule_delete(name=obj.name, actor=f"admin:{request.user.get_username()}")

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """Show or save the form; a refusal of the services becomes a message, and edits are kept."""
        if request.method == "POST" and EDIT_AGAIN in request.POST:
            show_entered(request, request.POST, NOT_SAVED_YET)
        elif request.method == "POST" and REBASE in request.POST and object_id:
            self.rebase_edits(request, object_id)
        try:
            return super().changeform_view(request, object_id, *args, **kwargs)
        except RehearsalRequestedError:
            # The browser sends the same form there.
            return HttpResponseRedirect(reverse("rehearse_rule", args=[object_id]), preserve_request=True)
        except ConflictError:
            # It was changed between the check of the form and the lock of the registry: now the check says so.
            return super().changeform_view(request, object_id, *args, **kwargs)
        except MemoryHubError as error:
            return redirect_to_list(request, error)

    def rebase_edits(self, request: HttpRequest, object_id: str) -> None:
        """Let the form show the edits that were sent on top of the rule as it is now, to be looked at before saving."""
        rule = get_object_or_404(MergeRule, pk=object_id) if object_id.isdigit() else None
        if rule is None or not self.has_change_permission(request, rule):
            raise PermissionDenied
        texts = rebase(RuleForm(request.POST, instance=rule, is_draft=True))
        if texts is None:
            show_entered(request, request.POST, NOT_REBASED)
        else:
            show_entered(request, texts, REBASED)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """Ask and delete; a refusal of the services becomes a message."""
        try:
            return super().delete_view(request, object_id, extra_context)
        except MemoryHubError as error:
            return redirect_to_list(request, error)

    def has_delete_permission(self, request: HttpRequest, obj: MergeRule | None = None) -> bool:
        """Return whether the user may delete the rule; built-in rules stay."""
        return bool(super().has_delete_permission(request, obj)) and (obj is None or obj.name not in BUILT_IN)


class RehearsalRequestedError(Exception):
    """The form of a rule is sound, and is to be rehearsed instead of saved."""


def show_entered(request: Any, entered: Any, words: Words) -> None:
    """Let the page show what was entered instead of saving it, and say so."""
    request.entered, request.sent_trial = entered, request.POST
    request.method = "GET"
    messages.warning(request, words)


def redirect_to_list(request: HttpRequest, error: MemoryHubError) -> HttpResponse:
    """Redirect to the list of rules with the detail of an error as a message."""
    messages.error(request, say(str(error.detail)))
    return HttpResponseRedirect(reverse("admin:rules_mergerule_changelist"))


def page_of(rule: MergeRule | None) -> str:
    """Return the address of the editor: of a rule, or of a new one."""
    return reverse("admin:rules_mergerule_change", args=[rule.pk]) if rule else reverse("admin:rules_mergerule_add")


def urls_of(rule: MergeRule | None) -> dict[str, str]:
    """Return where the editor asks what its edits would do."""
    if rule is None:
        names = {"preview": "admin:rules_mergerule_preview_new", "try": "admin:rules_mergerule_try_new"}
        return {part: reverse(name) for part, name in names.items()} | {"rehearsal": reverse("rehearse_new_rule")}
    names = {"preview": "admin:rules_mergerule_preview", "try": "admin:rules_mergerule_try_out"}
    of_rule = {**names, "rehearsal": "rehearse_edits"}
    return {part: reverse(name, args=[rule.pk]) for part, name in of_rule.items()}


def history_of(name: str) -> list[dict[str, Any]]:
    """Return the newest changes of a rule, as the editor lists them."""
    return [
        {
            "url": reverse("admin:rules_mergeruleversion_change", args=[change.pk]),
            "version": change.version,
            "action": choice_badge(change, "action", ACTION_COLOURS),
            "when": moment(change.at),
            "actor": change.actor,
            "settings": list_settings(setting_changes(change.before, change.after)),
        }
        for change in rule_history(name)[:SHOWN_VERSIONS]
    ]
