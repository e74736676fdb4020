"""The page *Settings > Memory*, its parts that are saved one by one, and its search."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.places import MAIN
from apps.notes.domain.settings import MemoryConfig
from apps.notes.selectors import MAX_NOTE_BYTES, config_get
from apps.notes.services import config_update
from apps.webui.memory_settings.compaction import compaction_state
from apps.webui.memory_settings.models import Offer, models_offered
from apps.webui.memory_settings.parts import AUTO, COMPACTION, EXTRACTION, GATE, PARTS, TIMES, Kind, Part, changes_of
from apps.webui.notes.edit import EditForm
from apps.webui.notes.page import SearchForm, search, state_of
from apps.webui.notes.places import Note
from apps.webui.notes.problems import problem_words
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person

BY_MODEL = (GATE, EXTRACTION, COMPACTION)


def is_from_script(request: HttpRequest) -> bool:
    """Return whether a script asks for a part of the page."""
    return request.headers.get("HX-Request") == "true"


def settings_page(request: HttpRequest, person: Person, **shown: Any) -> HttpResponse:
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
    part: Part, config: MemoryConfig, offer: Offer | None = None, problems: dict[str, str] | None = None
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
            "limits": one.limits if one.kind in {Kind.NUMBER, Kind.PERCENT} else None,
            "choices": (offer or Offer()).choices(one.shown(config)) if one.kind is Kind.MODEL else [],
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
    return settings_page(request, person, **found)
