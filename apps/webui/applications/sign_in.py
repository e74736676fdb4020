"""An app sends the person here to be let in; they see what it asks for, and what they say goes back to it."""

from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.audit.services import note_act
from apps.core.db.memberships import display_names, names_of_member
from apps.core.domain.scope import Permission
from apps.oauth.services import SCHEMES, SignInRefusedError, form_target, sign_in_answer, sign_in_read
from apps.webui.pages import render_page
from apps.webui.person import Person

SALT = "webui.sign_in"
TOKEN_SECONDS = 600
ANSWERS = {"read": Permission.READ, "write": Permission.WRITE, "refuse": None}


class BackToApp(HttpResponseRedirect):
    """Leads to where an app waits, which may be a program of the person's own machine."""

    allowed_schemes = list(SCHEMES)


@require_GET
def sign_in_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what an app asks for; one that asks wrongly is told so, where its address is known to be its own."""
    try:
        asked = sign_in_read(request)
    except SignInRefusedError as refused:
        if refused.back is not None:
            return BackToApp(refused.back)
        title = _("This app cannot be let in")
        answer: HttpResponse = render_page(request, person, "webui/applications/sign_in_wrong.html", title)
        answer.status_code = 400
        return answer
    kept = {"credentials": asked.credentials, "name": asked.name}
    parts = [(value, called) for value, (called, _part) in parts_of(person).items()]
    context: dict[str, Any] = {"asked": asked, "parts": parts, "token": signing.dumps(kept, salt=salt_of(person))}
    answer = render_page(request, person, "webui/applications/sign_in.html", _("Let this app in?"), **context)
    # Browsers follow no form to another address than those named here.
    answer._csp_update = {"form-action": [form_target(asked.credentials["redirect_uri"])]}  # type: ignore[attr-defined]
    return answer


def parts_of(person: Person) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the households and personas of the person to which an app can be kept: how each is called, and its id."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for kind in ("household_id", "persona_id"):
        for one, called in sorted(display_names(kind, names_of_member(person.user_id, kind)).items()):
            found[f"{kind}:{one}"] = (called, {kind: one})
    return found


def salt_of(person: Person) -> str:
    """Return what makes the token of an answer one of this person alone."""
    return f"{SALT}.{person.user_id}"


@require_POST
def sign_in_answered(request: HttpRequest, person: Person) -> HttpResponse:
    """Let in or refuse the app that the person was shown, and send them back to it."""
    chosen = request.POST.get("answer", "")
    try:
        kept = signing.loads(request.POST.get("token", ""), salt=salt_of(person), max_age=TOKEN_SECONDS)
        named = request.POST.get("part", "")
        part = parts_of(person)[named][1] if named in parts_of(person) else {}
        if chosen not in ANSWERS or (named and not part):
            raise SignInRefusedError(None)
        back = sign_in_answer(request, kept["credentials"], ANSWERS[chosen], part)
    except (signing.BadSignature, SignInRefusedError):
        messages.warning(request, _("Nothing was allowed. Begin again in the app."))
        return HttpResponseRedirect(reverse("webui:apps"))
    note_act(
        actor_kind="person",
        actor=person.access.actor,
        action="app.refuse" if ANSWERS[chosen] is None else "app.connect",
        scope=person.scope,
        address=request.META.get("REMOTE_ADDR"),
        detail={"name": kept["name"], "permission": chosen},
    )
    return BackToApp(back)
