"""Forgetting everything: the counts, the name to type, what becomes of the account, taking it back, and the receipt."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.audit.services import note_object
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.unseen import is_named
from apps.people.selectors import GRACE, erasure_obstacles, own_erasure, plan_of_uuid
from apps.people.services import erasure_plan, erasure_preview, plan_take_back
from apps.webui.pages import render_page
from apps.webui.person import Person

# In the order in which people want to know.
STORES: dict[str, str | Promise] = {
    "memories": gettext_lazy("Memories, with their history"),
    "given_answers": gettext_lazy("What apps received of yours"),
    "events": gettext_lazy("Things that happened"),
    "notes": gettext_lazy("Notes and their versions"),
    "conversations": gettext_lazy("Conversations, messages and what was learnt in them"),
    "receipts": gettext_lazy("Decisions between memories"),
    "store_items": gettext_lazy("What apps keep for themselves"),
    "imports": gettext_lazy("Imports from other programs"),
    "knowledge_sources": gettext_lazy("Sources of knowledge"),
    "bridge": gettext_lazy("Links between what happened and memories"),
    "note_compactions": gettext_lazy("Drafts of shorter notes"),
    "consolidations": gettext_lazy("Searches for contradictions"),
    "rules": gettext_lazy("Rules about your memories"),
    "model_calls": gettext_lazy("Questions to language models"),
    "keys": gettext_lazy("Apps that are yours alone, and grants to others"),
    "sign_ins": gettext_lazy("Sign-ins of apps"),
    "apps": gettext_lazy("App connections"),
    "accounts": gettext_lazy("Accounts that can see your data"),
    "audit": gettext_lazy("Records of who did what (what was done stays, without your name)"),
    "admin": gettext_lazy("Admin records about you"),
    "outbox": gettext_lazy("Messages inside the hub"),
    "tasks": gettext_lazy("Background work"),
    "pauses": gettext_lazy("Pauses in remembering"),
    "memberships": gettext_lazy("The households and personas you belong to"),
    "downloads": gettext_lazy("Files to download"),
    "looks": gettext_lazy("Operators’ views of your pages"),
    "planned_erasures": gettext_lazy("Your request to be forgotten"),
    "erasures": gettext_lazy("Records of forgetting"),
    "retention_policies": gettext_lazy("Settings of the timeline"),
    "routing_policies": gettext_lazy("Settings of what becomes a memory"),
}
STAYS, GOES = "stays", "goes"


def store_counts(found: Mapping[str, int], left: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    """Return the stores that had something, in words, and how much is gone of it while it is being removed.

    left: how much is there still; None for all of it.
    """
    names = [name for name in [*STORES, *sorted(found.keys() - STORES.keys())] if found.get(name)]
    return [
        {
            "words": STORES.get(name, name),
            "count": found[name],
            "gone": max(0, found[name] - (left or {}).get(name, 0)),
        }
        for name in names
    ]


class ForgetForm(forms.Form):
    """The wish to be forgotten. typed: the name as which the person signs in."""

    account = forms.ChoiceField(
        label=gettext_lazy("What happens to your account?"),
        choices=(
            (STAYS, gettext_lazy("Keep it: I can still sign in, and start from scratch.")),
            (GOES, gettext_lazy("It is removed with everything else.")),
        ),
        widget=forms.RadioSelect,
        initial=STAYS,
    )
    typed = forms.CharField(
        label=gettext_lazy("Type the name you sign in with to confirm"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )

    def __init__(self, person: Person, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_typed(self) -> str:
        """Return what was typed. Raises ValidationError when it is not the name."""
        typed: str = self.cleaned_data["typed"]
        if not is_named(typed, self.person.name):
            raise forms.ValidationError(_("This is not your name. Nothing was changed."))
        return typed


def privacy_forget_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show how much there is of the person; once their name was typed, plan to forget it."""
    form = ForgetForm(person, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            erasure_plan(
                user_id=person.user_id,
                keeps_account=form.cleaned_data["account"] == STAYS,
                actor=person.access.actor,
            )
        except MemoryHubError as error:
            form.add_error(None, error.detail)
        else:
            note_object("person", "", scope=person.scope)
            messages.success(request, _("Noted. Until then, you can take it back from any page."))
            return HttpResponseRedirect(reverse("webui:privacy") + "#forget")
    found = erasure_preview(person.user_id)
    return render_page(
        request,
        person,
        "webui/privacy/forget.html",
        _("Forget everything about me"),
        form=form,
        stores=store_counts(found),
        total=sum(found.values()),
        obstacles=erasure_obstacles(person.user_id),
        days=GRACE.days,
        due_at=utcnow(SYSTEM_CLOCK) + GRACE,
    )


@require_POST
def take_back(request: HttpRequest, person: Person) -> HttpResponse:
    """Forget nothing after all."""
    try:
        plan_take_back(user_id=person.user_id)
    except MemoryHubError:
        messages.warning(request, _("This can no longer be taken back."))
    else:
        note_object("person", "", scope=person.scope)
        messages.success(request, _("Taken back. Nothing was forgotten."))
    return HttpResponseRedirect(reverse("webui:privacy"))


def forgotten_page(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Show when a forgetting begins, how far it is, or what it removed. Raises Http404.

    For those who have its address, since the account may be gone by then: it holds neither a name nor a content.
    """
    plan, erasure = plan_of_uuid(uuid), own_erasure(uuid)
    if plan is None and erasure is None:
        raise Http404
    context: dict[str, Any] = {"plan": plan, "erasure": erasure, "uuid": uuid, "now": utcnow(SYSTEM_CLOCK)}
    if erasure is not None:
        left = erasure_preview(erasure.user_id) if erasure.is_open else {}
        stores = store_counts(erasure.found, left)
        found, gone = sum(store["count"] for store in stores), sum(store["gone"] for store in stores)
        context |= {"stores": stores, "found": found, "percent": 100 * gone // found if found else 0}
    is_part = bool(request.headers.get("HX-Request"))
    return TemplateResponse(request, f"webui/privacy/{'progress' if is_part else 'forgotten'}.html", context)
