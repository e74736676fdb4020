"""The page *Settings > Memory*, its parts that are saved one by one, its search, and *Compact now*."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.llm.services import models_listing
from apps.notes.domain.compaction.draft import FactAction, count_facts
from apps.notes.domain.places import MAIN
from apps.notes.domain.settings import MemoryConfig
from apps.notes.selectors import (
    MAX_NOTE_BYTES,
    Compaction,
    compaction_detail,
    compaction_list,
    config_get,
    note_get,
    note_versions,
    version_text,
)
from apps.notes.services import compaction_apply, compaction_create, compaction_discard, compaction_undo, config_update
from apps.webui.memory_settings.parts import (
    AUTO,
    COMPACTION,
    EXTRACTION,
    GATE,
    PARTS,
    TIMES,
    SettingKind,
    SettingsPart,
    changes_of,
)
from apps.webui.notes.differences import difference
from apps.webui.notes.page import EditForm, SearchForm, search, state_of
from apps.webui.notes.places import Note, code_words, problem_words
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person

BY_MODEL = (GATE, EXTRACTION, COMPACTION)
COMPACTION_STEPS = {"apply": compaction_apply, "discard": compaction_discard, "undo": compaction_undo}
# States after which there is something to be seen of a proposal.
WITH_DRAFT = {"drafted", "applied"}


@dataclass(frozen=True)
class Offer:
    """The models that are offered. problem: why there may be more or none, in words; empty otherwise."""

    names: tuple[str, ...] = ()
    problem: str = ""

    def choices(self, stored: str) -> list[tuple[str, str]]:
        """Return each model with its words. The stored one is always among them."""
        known = [(name, name) for name in self.names]
        if stored in self.names:
            return known
        words = stored if self.problem else _("%(model)s (not offered now)") % {"model": stored}
        return [(stored, words), *known]


def models_offered() -> Offer:
    """Ask the providers of the hub, at most once in a while, which models they have."""
    listing = models_listing()
    if not listing.providers:
        return Offer(
            problem=_("No chat model is set up in this hub, so this has no effect yet. The operator can set one up.")
        )
    names = tuple(dict.fromkeys(model.name for model in listing.models))
    if any(provider.list.problem for provider in listing.providers):
        problem = _("The provider is not answering, or does not list its models. Your choice is kept.")
        return Offer(names, problem)
    return Offer(names)


def is_from_script(request: HttpRequest) -> bool:
    """Return whether a script asks for a part of the page."""
    return request.headers.get("HX-Request") == "true"


def memory_settings_page(request: HttpRequest, person: Person, **shown: Any) -> HttpResponse:
    """Show all settings of memory."""
    note, state = Note(MAIN), state_of(person, Note(MAIN))
    form = EditForm(initial={"text": state["text"], "base": state.get("sha256", ""), "back": "settings"})
    problems: list[str] = []
    try:
        read = config_get(person.access, person.user_id)
        config, problems = read.config, [problem_words(one) for one in read.problems]
    except MemoryHubError as error:
        config, problems = MemoryConfig(), [problem_words(error)]
    is_any_on = any(part.switch.value(config) for part in BY_MODEL)
    offer = models_offered() if is_any_on else Offer()
    context: dict[str, Any] = {
        "note": note,
        "state": state,
        "form": form,
        "limit": MAX_NOTE_BYTES,
        "problems": list(dict.fromkeys(problems)),
        "auto": part_shown(AUTO, config),
        "parts": [part_shown(part, config, offer) for part in BY_MODEL],
        "times": part_shown(TIMES, config),
        "search_form": SearchForm(),
        "compaction": compaction_state(person),
        **shown,
    }
    return render_page(request, person, "webui/memory_settings/page.html", _("Memory settings"), **context)


def part_shown(
    part: SettingsPart, config: MemoryConfig, offer: Offer | None = None, problems: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a part as its template shows it. Its other settings appear when its switch is on."""
    wrong, model = problems or {}, part.model
    is_on = bool(part.switch.value(config))
    rows = [
        {
            "name": one.name,
            "id": f"{part.name}-{one.name}",
            "kind": one.kind.value,
            "label": one.label,
            "value": one.shown(config),
            "limits": one.limits if one.kind in {SettingKind.NUMBER, SettingKind.PERCENT} else None,
            "choices": (offer or Offer()).choices(one.shown(config)) if one.kind is SettingKind.MODEL else [],
            "problem": wrong.get(one.name, ""),
        }
        for one in part.settings
    ]
    said = offer.problem if offer is not None and model is not None and is_on else ""
    return {"part": part, "is_on": is_on, "switch": rows[0], "rows": rows[1:], "offer_problem": said}


@require_POST
def part_save(request: HttpRequest, person: Person, part: str) -> HttpResponse:
    """Save what a form changes: at once for a script, which gets the part again, else with a reload of the page."""
    if part not in PARTS:
        raise Http404
    chosen, problem = PARTS[part], ""
    values, wrong = changes_of(chosen, request.POST.dict())
    try:
        if values and not wrong:
            config_update(access=person.access, user_id=person.user_id, values=values)
        config = config_get(person.access, person.user_id).config
    except MemoryHubError as error:
        config, problem = MemoryConfig(), problem_words(error)
    is_saved = not wrong and not problem
    if is_from_script(request):
        offer = models_offered() if chosen.is_by_model and chosen.switch.value(config) else None
        shown = part_shown(chosen, config, offer, wrong)
        context = {"one": shown, "is_saved": is_saved, "problem": problem}
        return render_fragment(request, person, "webui/memory_settings/part.html", **context)
    if is_saved:
        messages.success(request, _("Saved."))
    for words in [problem] if problem else wrong.values():
        messages.warning(request, words)
    return HttpResponseRedirect(f"{reverse('webui:memory_settings')}#part-{part}")


@require_POST
def settings_search(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what notes say about the posted words: in the page, or alone for a script."""
    form = SearchForm(request.POST)
    found = {"search_form": form, **search(person, form)}
    if is_from_script(request):
        return render_fragment(request, person, "webui/notes/hits.html", **found)
    return memory_settings_page(request, person, **found)


def compaction_state(person: Person) -> dict[str, Any]:
    """Return the latest compaction as its template shows it, and how many facts MEMORY.md has now."""
    try:
        last = compaction_list(person.access, person.user_id).newest_first().first()
        note = note_get(person.access, person.user_id, MAIN)
        model = config_get(person.access, person.user_id).config.llm_compaction_model
    except MemoryHubError as error:
        return {"problem": problem_words(error), "last": None, "facts": 0, "model": ""}
    shown = (
        {} if last is None else {"reason": code_words(last.code) if last.code else "", **proposed_changes(person, last)}
    )
    return {"problem": "", "last": last, "facts": count_facts(note.text or b""), "model": model, **shown}


def proposed_changes(person: Person, row: Compaction) -> dict[str, Any]:
    """Return what a proposal does with the facts, and the version of MEMORY.md that it was made of."""
    if row.state not in WITH_DRAFT:
        return {}
    detail = compaction_detail(row)
    versions = note_versions(person.access, person.user_id, MAIN).current().filter(sha256=row.base_sha256)
    before = versions.order_by("number").last()
    merged: dict[str, list[str]] = {}
    for fact in row.facts:
        if fact["action"] == FactAction.MERGED:
            merged.setdefault(fact["into"], []).append(fact["text"])
    changed = None
    if before is not None and detail.text is not None:
        changed = difference(version_text(before).decode(errors="replace"), detail.text)
    return {
        "before": before,
        "merged": [{"into": into, "texts": texts} for into, texts in merged.items()],
        "shortened": [fact for fact in row.facts if fact["action"] == FactAction.SHORTENED],
        "dropped": [fact for fact in row.facts if fact["action"] == FactAction.DROPPED],
        "is_current": detail.is_current,
        "difference": changed,
    }


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
    step = COMPACTION_STEPS.get(request.POST.get("step", ""))
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
