"""A memory that a person writes: the first one, or any other."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save
from apps.webui.person import Person

MAX_CONTENT_CHARS = 2_000
SOURCE = "user"


class FirstMemoryForm(forms.Form):
    """A sentence to remember."""

    content = forms.CharField(label=gettext_lazy("A sentence about you"), max_length=MAX_CONTENT_CHARS)


@require_POST
def tell(request: HttpRequest, person: Person) -> HttpResponse:
    """Save a memory that the person has written."""
    form = FirstMemoryForm(request.POST)
    back = HttpResponseRedirect(reverse("webui:known" if request.POST.get("back") == "known" else "webui:home"))
    if not form.is_valid():
        messages.warning(request, _("Write a sentence of at most 2,000 characters."))
        return back
    draft = MemoryDraft(form.cleaned_data["content"], scope=person.scope, source=SOURCE)
    try:
        memory_save(access=person.access, draft=draft)
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        messages.success(request, _("Saved. Your assistants find it from now on."))
    return back
