"""Connecting an app: the person types its code, sees what it asks for, and confirms or refuses."""

from typing import Any

from allauth.core import ratelimit
from django import forms
from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.audit.services import note_act
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import Permission
from apps.people.services import connection_answer, connection_find
from apps.webui.pages import render_page
from apps.webui.person import Person

SALT = "webui.connect"
# The limit of codes that an account may try (settings.ACCOUNT_RATE_LIMITS).
LIMIT = "connect_code"
TOKEN_SECONDS = 600


class CodeForm(forms.Form):
    """The code that an app shows."""

    code = forms.CharField(
        label=gettext_lazy("Which code does the app show?"),
        max_length=20,
        widget=forms.TextInput(
            attrs={"class": "code", "autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )


def connect_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Ask for a code, and show which app waits under it."""
    form = CodeForm(request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid():
        return code_page(request, person, form)
    if not ratelimit.consume(request, action=LIMIT, user=request.user):
        form.add_error("code", _("Too many codes tried. Wait ten minutes, then try again."))
        return code_page(request, person, form, status=429)
    try:
        waiting = connection_find(form.cleaned_data["code"])
    except NotFoundError:
        form.add_error(
            "code", _("No app is waiting for this code. Codes last ten minutes; have the app show a new one.")
        )
        return code_page(request, person, form)
    context: dict[str, Any] = {
        "waiting": waiting,
        "token": signing.dumps(str(waiting.uuid), salt=salt_of(person)),
        "wants_to_write": waiting.permission == Permission.WRITE,
    }
    title = _("Connect this app?")
    return render_page(request, person, "webui/applications/confirm.html", title, **context)


def code_page(request: HttpRequest, person: Person, form: CodeForm, status: int = 200) -> HttpResponse:
    """Show the form for a code."""
    answer = render_page(request, person, "webui/applications/connect.html", _("Connect an app"), form=form)
    answer.status_code = status
    return answer


def salt_of(person: Person) -> str:
    """Return what makes the token of an answer one of this person alone."""
    return f"{SALT}.{person.user_id}"


@require_POST
def connect_answer(request: HttpRequest, person: Person) -> HttpResponse:
    """Confirm or refuse the app that the person was shown."""
    back = HttpResponseRedirect(reverse("webui:connect"))
    try:
        uuid = signing.loads(request.POST.get("token", ""), salt=salt_of(person), max_age=TOKEN_SECONDS)
    except signing.BadSignature:
        messages.warning(request, _("This app is no longer waiting. Have it show a new code."))
        return back
    chosen = request.POST.get("answer", "")
    permission = {"read": Permission.READ, "write": Permission.WRITE}.get(chosen)
    if permission is None and chosen != "refuse":
        messages.warning(request, _("Choose one of the answers."))
        return back
    try:
        answered = connection_answer(uuid=uuid, user_id=person.user_id, permission=permission)
    except MemoryHubError:
        messages.warning(request, _("This app is no longer waiting. Have it show a new code."))
        return back
    note_act(
        actor_kind="person",
        actor=person.access.actor,
        action="app.refuse" if permission is None else "app.connect",
        object_type="people.connectionrequest",
        object_id=str(answered.uuid),
        scope=person.scope,
        address=request.META.get("REMOTE_ADDR"),
        detail={"name": answered.name, "permission": chosen},
    )
    if permission is None:
        messages.success(request, _("Refused: %(app)s gets no access.") % {"app": answered.name})
    else:
        messages.success(
            request, _("%(app)s is getting its key and will appear here in a moment.") % {"app": answered.name}
        )
    return HttpResponseRedirect(reverse("webui:apps"))
