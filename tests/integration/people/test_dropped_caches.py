"""What processes hold in memory of a person who was forgotten: each drops it, and the erasure waits."""

from datetime import timedelta
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.core.models import ProcessKind
from apps.core.processes import publish
from apps.episodic.store.file_cache import archive_cache
from apps.people.erasure import caches, run
from apps.people.erasure.run import erasure_run
from apps.people.models import Erasure, ErasureState
from apps.people.services import erasure_request
from apps.semantic.index.cache import index_cache
from apps.semantic.models import MemoryShard
from apps.semantic.store.embedding_space import current_space
from tests.api import api_for
from tests.integration.episodic.timeline import Timeline, draft

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def index_dir(settings: Any, tmp_path: Any, timeline_dir: Any) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"


def emptied() -> Erasure:
    """Note that another process has emptied the stores of someone."""
    now = utcnow(SYSTEM_CLOCK)
    return Erasure.objects.create(digest="x", state=ErasureState.FINISHED, requested_at=now, emptied_at=now)


def test_index_and_names_of_a_forgotten_user_are_dropped() -> None:
    api = api_for(Scope())
    for user in ("ana", "ben"):
        api.save("likes tea", user_id=user)
        assert api.search("tea", user_id=user)["count"] == 1
    timeline = Timeline()
    timeline.record(draft(scope=Scope("ana")))
    timeline.archive()
    archive_cache().refresh()
    index, space = index_cache(), current_space()
    # What another process does to the database.
    MemoryShard.objects.filter(user_id="ana").delete()
    caches.caches_drop()
    assert index.peek("ana", space) is not None
    emptied()
    caches.caches_drop()
    assert index.peek("ana", space) is None
    assert index.peek("ben", space) is not None


def test_the_names_of_scopes_without_files_are_dropped() -> None:
    timeline = Timeline()
    timeline.record(draft(scope=Scope("ana")), draft(scope=Scope("ben")), draft("more", scope=Scope("cem")))
    timeline.archive()
    archive_cache().refresh()
    erasure_run(erasure_id=erasure_request(user_id="ana", actor="test", enqueue=False).pk)
    held = {key.user_id for key, _ in archive_cache()._view.index.scope_counts(Scope())}
    assert held == {"ben", "cem"}
    assert "ana" not in repr(archive_cache()._view.index._scopes._keys)


def test_it_waits_for_web_processes_that_still_hold_something(monkeypatch: pytest.MonkeyPatch) -> None:
    api_for(Scope()).save("likes tea", user_id="ana")
    monkeypatch.setattr(run, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr("apps.core.processes.run_name", lambda: "another run")
    publish(ProcessKind.WEB, {}, {"forgotten": {"until": 0.0}})
    monkeypatch.undo()
    monkeypatch.setattr(run, "PATIENCE_SECONDS", 0.3)
    erasure = erasure_run(erasure_id=erasure_request(user_id="ana", actor="test", enqueue=False).pk)
    assert (erasure.state, erasure.problems) == ("removing", ["1 web processes still hold something in memory."])
    later = utcnow(SYSTEM_CLOCK) + timedelta(minutes=1)
    monkeypatch.setattr("apps.core.processes.run_name", lambda: "another run")
    publish(ProcessKind.WEB, {}, {"forgotten": {"until": later.timestamp()}})
    monkeypatch.undo()
    erasure = erasure_run(erasure_id=erasure.pk)
    assert (erasure.state, erasure.processes) == ("finished", 1)
