"""Conversations from which the admin shows what was learnt."""

from apps.core.domain.scope import Scope
from apps.notes.models import ExtractionRun
from apps.notes.services import runs_continue
from tests.api import api_for

SESSION = "/api/auto-memory/sessions/chat"


def learn(*texts: str) -> ExtractionRun:
    """Have something learnt from what ana says. Return the run."""
    api = api_for(Scope("ana"))
    said = [{"role": "user", "content": text} for text in texts]
    assert api.post(f"{SESSION}/messages", {"messages": said}).status_code == 201
    assert api.post(f"{SESSION}/events", {"type": "session.end"}).status_code < 300
    runs_continue()
    return ExtractionRun.objects.latest("pk")
