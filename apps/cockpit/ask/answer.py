"""The answer to a question as a page shows it: results with the parts of their scores, and what is missing and why."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.words import mark_words, whose
from apps.core.admin.kit import moment
from apps.core.domain.scope import Access
from apps.core.pages.texts import first_words
from apps.retrieval.domain.explain import explain_hit
from apps.retrieval.domain.query import Hit, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import terms_of
from apps.semantic.selectors import Memory
from apps.semantic.services import Absence, Missing, SearchResult

FILTERS = {
    "time_window": _("It happened %(happened)s, outside the time that the question asked for."),
    "min_confidence": _("Its confidence is too low."),
    "min_similarity": _("Its meaning is not close enough."),
    "min_relevance": _("It fits only weakly."),
}


# By why a memory is missing: the badge, its colour.
LABELS = {
    Absence.BOUND: (_("Outside the bound"), "info"),
    Absence.SCOPE: (_("Outside the scope"), "info"),
    Absence.SUPERSEDED: (_("Superseded"), "warning"),
    Absence.MERGED: (_("Merged"), "info"),
    Absence.REJECTED: (_("Rejected"), "danger"),
    Absence.DELETED: (_("Deleted"), "danger"),
    Absence.EXPIRED: (_("Expired"), "warning"),
    Absence.FILTERED: (_("Filtered"), "warning"),
    Absence.RANK: (_("Ranked lower"), "info"),
}


def result_rows(result: SearchResult, query: SearchQuery, viewer: Access) -> list[dict[str, Any]]:
    """Return what was found, in its order, with bars of one scale."""
    longest = max((total_of(one.hit, result.mode) for one in result.found), default=0.0)
    wanted = frozenset(terms_of(query).words)
    rows = []
    for one in result.found:
        memory, hit, notes = one.memory, one.hit, []
        if one.before is not None and hit.precedence is not None:
            note = gettext(
                "Ranked above an older memory about the same subject; by its score alone it would be number %(place)s."
            )
            notes.append(note % {"place": hit.precedence.place})
        if one.conflict is not None:
            notes.append(gettext("A decision about it is waiting for review."))
        if not memory.is_in_force:
            notes.append(gettext("It is not in force."))
        if one.replaced is not None:
            notes.append(
                gettext(
                    "The rules replaced it with the one above. Assistants still get it until somebody "
                    "accepts that decision."
                )
            )
        rows.append(
            {
                "uuid": memory.uuid,
                "content": mark_words(memory.content, wanted),
                "link": memory_link(memory, viewer),
                "whose": whose(memory.scope),
                "when": moment(memory.occurred_at or memory.created_at),
                "origin": memory.origin,
                "score": f"{hit.score:.3f}",
                "relevance": "" if hit.relevance is None else f"{hit.relevance:.2f}",
                "parts": score_parts(hit, result.mode, longest),
                "words": ", ".join(f"{share.term} {share.score:.2f}" for share in hit.terms),
                "notes": tuple(notes),
            }
        )
    return rows


def gain_of(hit: Hit) -> float:
    """Return what a score has because the memory is near to a time that the question names."""
    return hit.score - hit.score / hit.time.factor if hit.time else 0.0


def total_of(hit: Hit, mode: SearchMode) -> float:
    """Return the score of a hit with what is taken off for saying little."""
    if mode is not SearchMode.HYBRID or hit.substance <= 0:
        return hit.score
    gain = gain_of(hit)
    return (hit.score - gain) / hit.substance + gain


def score_parts(hit: Hit, mode: SearchMode, longest: float) -> list[dict[str, str]]:
    """Return the parts of a score: meaning, words, closeness in time, and what was taken off.

    longest: the highest total. x, width: in hundredths of the longest bar. value: what it adds to the score.
    """
    explained = explain_hit(hit, mode)
    factor = explained.get("substance", 1.0)
    values = [
        ("vector", gettext("meaning"), explained.get("vector", {}).get("contribution", 0.0) * factor),
        ("keyword", gettext("words"), explained.get("keyword", {}).get("contribution", 0.0) * factor),
        ("time", gettext("closeness in time"), gain_of(hit)),
        ("lost", gettext("deducted for little content"), total_of(hit, mode) - hit.score),
    ]
    parts, x = [], 0.0
    for kind, label, value in values:
        width = 100 * max(value, 0.0) / longest if longest > 0 else 0.0
        if width >= 0.05:
            sign = "-" if kind == "lost" else ""
            part = {"kind": kind, "label": label, "x": f"{x:.2f}", "width": f"{width:.2f}"}
            parts.append({**part, "value": f"{sign}{value:.3f}"})
            x += width
    return parts


def memory_link(memory: Memory, viewer: Access) -> str:
    """Return the page of a memory, empty where the viewer may only read it."""
    return reverse("admin:semantic_memory_change", args=[memory.pk]) if viewer.bound.contains(memory.scope) else ""


def missing_rows(missing: Iterable[Missing], query: SearchQuery, viewer: Access, asker: str) -> list[dict[str, Any]]:
    """Return what was not found, each with its reason in words. asker: who asked, such as `the key kitchen`.

    replaced: the text and the page of the memory that holds instead of it.
    """
    wanted = frozenset(terms_of(query).words)
    rows = []
    for one in missing:
        label, tone = LABELS[one.absence]
        heir = (
            one.memory.superseded_by if one.absence in {Absence.SUPERSEDED, Absence.MERGED, Absence.REJECTED} else None
        )
        receipt = one.removal.conflict if one.removal and heir else None
        rows.append(
            {
                "uuid": one.memory.uuid,
                "content": mark_words(one.memory.content, wanted),
                "link": memory_link(one.memory, viewer),
                "label": label,
                "tone": tone,
                "reason": say_absence(one, query, asker),
                "replaced": first_words(heir.content) if heir else "",
                "replaced_link": memory_link(heir, viewer) if heir else "",
                "decision_link": reverse("admin:semantic_conflict_change", args=[receipt]) if receipt else "",
            }
        )
    return rows


def say_absence(one: Missing, query: SearchQuery, asker: str) -> str:
    """Say why a memory was not found."""
    memory, removal = one.memory, one.removal
    when = moment(memory.status_changed_at or (removal.at if removal else None))
    match one.absence:
        case Absence.BOUND:
            said = gettext("It belongs to %(whose)s, which %(asker)s may not read.")
            return said % {"whose": whose(memory.scope), "asker": asker}
        case Absence.SCOPE:
            said = gettext("It belongs to %(whose)s; the question asked for %(asked)s.")
            return said % {
                "whose": whose(memory.scope),
                "asked": whose(query.scope) if query.scope.named() else gettext("the scope of the key"),
            }
        case Absence.EXPIRED:
            return gettext("It could be found until %(time)s.") % {"time": moment(memory.expires_at)}
        case Absence.FILTERED:
            happened = moment(memory.occurred_at or memory.created_at)
            return FILTERS.get(one.filter, gettext("It fails the filter %(name)s.")) % {
                "happened": happened,
                "name": one.filter,
            }
        case Absence.RANK:
            said = gettext("Its score %(score)s is too low for the first %(count)s.")
            return said % {"score": f"{one.hit.score:.3f}", "count": query.top_k}
        case Absence.DELETED:
            if removal:
                return gettext("Deleted %(when)s by %(actor)s.") % {"when": when, "actor": removal.actor}
            return gettext("Deleted %(when)s.") % {"when": when}
    # With a colon where the memory that holds instead follows.
    alone, followed = {
        Absence.SUPERSEDED: (
            gettext("Superseded %(when)s by a newer memory."),
            gettext("Superseded %(when)s by a newer memory:"),
        ),
        Absence.MERGED: (
            gettext("Merged %(when)s into another memory."),
            gettext("Merged %(when)s into another memory:"),
        ),
        Absence.REJECTED: (
            gettext("Rejected %(when)s in favour of another memory."),
            gettext("Rejected %(when)s in favour of another memory:"),
        ),
    }[one.absence]
    return (alone if memory.superseded_by is None else followed) % {"when": when}
