"""The page on which the text of an item at two commits is compared."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from apps.core.admin.kit import moment, operator_access, render_difference
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.sync.admin.words import ITEM_PAGE, SHOWN_COMMIT_CHARS
from apps.sync.models import KnowledgeItem
from apps.sync.repository.entries import LoggedCommit
from apps.sync.selectors import item_diff, item_history

MAX_SHOWN_LINES = 5_000
MAX_SUBJECT_CHARS = 60


class CompareForm(forms.Form):
    """Two commits among those that changed the file of an item."""

    old = forms.ChoiceField(label=_("From"), widget=UnfoldAdminSelectWidget)
    new = forms.ChoiceField(label=_("To"), widget=UnfoldAdminSelectWidget)

    def __init__(self, data: Any, commits: Sequence[LoggedCommit]) -> None:
        super().__init__(data)
        for name in ("old", "new"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(one.commit, commit_words(one)) for one in commits]


def commit_words(commit: LoggedCommit) -> str:
    """Return a commit as a person recognises it."""
    return f"{moment(commit.at)}  {commit.commit[:SHOWN_COMMIT_CHARS]}  {commit.subject[:MAX_SUBJECT_CHARS]}"


def compare_page(model_admin: Any, request: HttpRequest, item: KnowledgeItem) -> HttpResponse:
    """Answer the page; at first with the last change."""
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("%(item)s at two commits") % {"item": item.item_id},
        "opts": model_admin.opts,
        "media": model_admin.media,
        "item": item,
        "page": reverse(ITEM_PAGE, args=[item.pk]),
    }
    access = operator_access(request)
    try:
        commits = item_history(access, item.uuid)
        last_change = {"old": commits[min(1, len(commits) - 1)].commit, "new": commits[0].commit} if commits else None
        form = CompareForm(request.GET if "old" in request.GET else last_change, commits)
        context |= {"commits": commits, "form": form}
        if commits and form.is_valid():
            chosen = form.cleaned_data
            lines = item_diff(access, item.uuid, chosen["old"], chosen["new"]).diff.splitlines()
            context |= {
                "difference": render_difference(lines[:MAX_SHOWN_LINES]) if lines else "",
                "left": max(0, len(lines) - MAX_SHOWN_LINES),
                "is_compared": True,
            }
    except MemoryHubError as error:
        context["problem"] = say(str(error.detail))
    return TemplateResponse(request, "sync/compare.html", context)
