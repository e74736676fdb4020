"""The end of a run of extraction: the daily log of a flush, the index, and the compaction of MEMORY.md (spec 001)."""

from collections import Counter
from typing import Any

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.offsets import in_offset, offset_minutes
from apps.core.steps import Step
from apps.notes.compaction.request import compaction_request_due
from apps.notes.domain.places import daily_place
from apps.notes.files.changes import note_append
from apps.notes.index.upkeep import index_refresh
from apps.notes.models import ConversationMessage, ExtractedFact, ExtractionRun, FactState, RunTrigger

FLUSHES = (RunTrigger.USAGE, RunTrigger.COMPACTION)


def finish(run: ExtractionRun, clock: Clock, step: Step) -> dict[str, Any]:
    """Do what follows the writing of facts, and return the record of it. Safe to repeat."""
    applied = Counter(ExtractedFact.objects.filter(run=run, state=FactState.APPLIED).values_list("category", flat=True))
    record: dict[str, Any] = {"step": "finish"}
    if applied and run.trigger in FLUSHES:
        last = ConversationMessage.objects.filter(run=run).order_by("number").last()
        here = in_offset(utcnow(clock), offset_minutes(last.at if last else None))
        place = daily_place(here.date())
        kept = ", ".join(f"{category} {count}" for category, count in sorted(applied.items()))
        entry = f"{here:%H:%M} Kept before the context was compacted: {kept}."
        note_append(run.user_id, place, entry, author=run.actor, operation=f"flush:{run.uuid}", clock=clock)
        record["daily_log"] = str(place)
        step("logged")
    if applied:
        record["index"] = refresh(run.user_id)
        compaction = compaction_request_due(run.user_id, actor=run.actor, clock=clock)
        record["compaction"] = str(compaction.uuid) if compaction else None
    return record


def refresh(user_id: str) -> str:
    """Bring the index up to the files; return `refreshed`, or the code of why that has to wait for a search."""
    try:
        index_refresh(user_id)
    except UnavailableError as error:
        return error.code
    return "refreshed"
