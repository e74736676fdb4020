"""The part of a rule's editor that rehearses edits as they are made: bounded in time, one at a time for each viewer."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from apps.core.admin.kit import operator_access
from apps.core.db.session_locks import try_session_lock
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.rules.selectors import MergeRule, document_mark
from apps.rules.services import NEEDED_TO_REHEARSE, RuleForm, setting_name
from apps.semantic.admin.rehearsal import row_of
from apps.semantic.conflicts.rehearsal import EDIT_DECISIONS, SECONDS, EditRehearsal, key_of, rehearse_edits

TEMPLATE = "semantic/edit_rehearsal.html"
SHOWN = 10
LOCK = 0x6D68_7265


def rehearse_unsaved(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Show what the edits of a posted form would change of the newest decisions. Changes nothing.

    While an earlier request of the same viewer is at work, the answer says so, and the page asks again.
    """
    if not request.user.has_perms(("rules.change_mergerule", *NEEDED_TO_REHEARSE)):
        raise PermissionDenied
    rule = None if pk is None else get_object_or_404(MergeRule, pk=pk)
    if request.method != "POST":
        page = reverse("admin:rules_mergerule_change", args=[pk]) if rule else reverse("admin:rules_mergerule_add")
        return HttpResponseRedirect(page)
    form = RuleForm(request.POST, instance=rule, is_draft=True)
    if not form.is_valid():
        return render(
            request, "invalid", problems=form.problems(), words=gettext("Not rehearsed: a setting is not valid yet.")
        )
    if form.document == form.before:
        return render(request, "same")
    with try_session_lock(LOCK, request.user.pk) as is_free:
        if not is_free:
            return render(request, "busy")
        mark = document_mark(form.document)
        try:
            found = rehearse_edits(operator_access(request), form.before, form.document)
        except MemoryHubError as error:
            return render(request, "invalid", problems=[say(str(error.detail))], words=gettext("Not rehearsed."))
        tally, now = found.rehearsal.decisions.tally, utcnow(SYSTEM_CLOCK)
        words = gettext("These edits are rehearsed: %(due)s of %(replayed)s would differ.")
        words %= {"due": len(found.due), "replayed": tally.replayed}
        return render(request, "done", mark=mark, words=words, now=now, **rehearsal_context(found))


def rehearsal_context(found: EditRehearsal) -> dict[str, Any]:
    """Return what the part shows of a rehearsal: how many would differ, because of which edit, and the first ones."""
    decisions = found.rehearsal.decisions
    return {
        "replayed": decisions.tally.replayed,
        "due": len(found.due),
        "already": decisions.tally.differ - len(found.due),
        "causes": [(setting_name(path), count) for path, count in found.causes.items()],
        "together": found.together,
        "is_explained": found.is_explained,
        "rows": [
            row_of(difference) | {"causes": [setting_name(path) for path in found.paths.get(key_of(difference), [])]}
            for difference in found.due[:SHOWN]
        ],
        "left_out": max(0, len(found.due) - SHOWN),
        "is_complete": decisions.is_complete,
        "has_time_run_out": decisions.has_time_run_out,
        "seconds": SECONDS,
        "most": EDIT_DECISIONS,
        "rules": [name for name in found.rehearsal.changed_rules if name != found.rehearsal.rule],
    }


def render(request: HttpRequest, state: str, **context: Any) -> HttpResponse:
    """Return the part in a state: `done`, `same`, `invalid` or `busy`."""
    return TemplateResponse(request, TEMPLATE, {"state": state, **context})
