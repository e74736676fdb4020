"""*Compact now*: a model proposes a shorter MEMORY.md, and the person takes it, gives it up, or undoes it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.compaction.draft import FactAction, count_facts
from apps.notes.domain.places import MAIN
from apps.notes.selectors import (
    Compaction,
    NoteVersion,
    compaction_detail,
    compaction_list,
    config_get,
    note_get,
    note_versions,
    version_text,
)
from apps.notes.services import compaction_apply, compaction_create, compaction_discard, compaction_undo
from apps.webui.notes.differences import Difference, difference
from apps.webui.notes.problems import code_words, problem_words
from apps.webui.pages import render_fragment
from apps.webui.person import Person

STEPS = {"apply": compaction_apply, "discard": compaction_discard, "undo": compaction_undo}
# States after which there is something to be seen of a proposal.
WITH_DRAFT = {"drafted", "applied"}


def compaction_state(person: Person) -> dict[str, Any]:
    """Return the latest compaction as its template shows it, and how many facts MEMORY.md has now."""
    try:
        last = compaction_list(person.access, person.user_id).newest_first().first()
        note = note_get(person.access, person.user_id, MAIN)
        model = config_get(person.access, person.user_id).config.llm_compaction_model
    except MemoryHubError as error:
        return {"problem": problem_words(error), "last": None, "facts": 0, "model": ""}
    shown = {} if last is None else {"reason": reason_of(last), **changes_of(person, last)}
    return {"problem": "", "last": last, "facts": count_facts(note.text or b""), "model": model, **shown}


def reason_of(row: Compaction) -> str:
    """Return why there is no proposal, or why it was not applied, in words."""
    return code_words(row.code) if row.code else ""


def changes_of(person: Person, row: Compaction) -> dict[str, Any]:
    """Return what a proposal does with the facts, and the version of MEMORY.md that it was made of."""
    if row.state not in WITH_DRAFT:
        return {}
    detail = compaction_detail(row)
    before = version_before(person, row)
    return {
        "before": before,
        "merged": merged_facts(row),
        "shortened": [fact for fact in row.facts if fact["action"] == FactAction.SHORTENED],
        "dropped": [fact for fact in row.facts if fact["action"] == FactAction.DROPPED],
        "is_current": detail.is_current,
        "difference": difference_of(before, detail.text),
    }


def merged_facts(row: Compaction) -> list[dict[str, Any]]:
    """Return the sentences that stand for several facts, each with these."""
    found: dict[str, list[str]] = {}
    for fact in row.facts:
        if fact["action"] == FactAction.MERGED:
            found.setdefault(fact["into"], []).append(fact["text"])
    return [{"into": into, "texts": texts} for into, texts in found.items()]


def version_before(person: Person, row: Compaction) -> NoteVersion | None:
    """Return the version of MEMORY.md that the model read; None where it is not kept."""
    versions = note_versions(person.access, person.user_id, MAIN).current().filter(sha256=row.base_sha256)
    return versions.order_by("number").last()


def difference_of(before: NoteVersion | None, text: str | None) -> Difference | None:
    """Return what a proposal changes; None where one of the texts is not there."""
    if before is None or text is None:
        return None
    return difference(version_text(before).decode(errors="replace"), text)


def compaction_part(request: HttpRequest, person: Person) -> HttpResponse:
    """Show how the compaction is getting on."""
    context = {"compaction": compaction_state(person)}
    return render_fragment(request, person, "webui/memory_settings/compaction.html", **context)


@require_POST
def compact_now(request: HttpRequest, person: Person) -> HttpResponse:
    """Ask for a shorter MEMORY.md; it is made in the background."""
    problem = ""
    try:
        compaction_create(access=person.access, user_id=person.user_id)
    except MemoryHubError as error:
        problem = problem_words(error)
    return answered(request, person, problem)


@require_POST
def compaction_decide(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Take a proposal, give it up, or bring back what was before it. `step`: which of these."""
    step = STEPS.get(request.POST.get("step", ""))
    if step is None or not compaction_list(person.access, person.user_id).filter(uuid=uuid).exists():
        raise Http404
    problem = ""
    try:
        step(access=person.access, uuid=uuid)
    except MemoryHubError as error:
        problem = problem_words(error)
    return answered(request, person, problem)


def answered(request: HttpRequest, person: Person, problem: str = "") -> HttpResponse:
    """Answer with the part for a script, else with the page again."""
    if request.headers.get("HX-Request") == "true":
        context = {"compaction": compaction_state(person), "decision_problem": problem}
        return render_fragment(request, person, "webui/memory_settings/compaction.html", **context)
    if problem:
        messages.warning(request, problem)
    return HttpResponseRedirect(f"{reverse('webui:memory_settings')}#compaction")
