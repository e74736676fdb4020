"""The page of the index."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ

from apps.cockpit.index import CACHES
from apps.core.domain.caches import MB, cache_facts
from apps.core.models import ProcessKind
from apps.core.processes import publish
from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain import planner
from apps.semantic.health import index_facts
from apps.semantic.index import overview
from apps.semantic.models import Memory, MemoryEmbedding, RecallCheck
from tests.integration.admin.pages import text_of

pytestmark = pytest.mark.django_db

INDEX = "/admin/index/"


@pytest.fixture(autouse=True)
def counted_now(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> Iterator[None]:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    monkeypatch.setattr(planner, "GRAPH_ROWS", 3)
    monkeypatch.setattr(overview, "COUNTED_SECONDS", 0.0)
    overview._counted.forget()
    yield
    overview._counted.forget()


@pytest.fixture
def large(remember: Callable[..., Memory]) -> None:
    for number in range(4):
        remember(f"thing {number} of ana")
    remember("tea", user="ben")


def test_level_is_said_with_reasons_and_hints(operator: Client, large: None) -> None:
    facts = {**index_facts(), "level": "degraded", "reasons": ["capacity"], "bytes": 5_000_000}
    publish(ProcessKind.WEB, {}, {"index": facts})
    text = text_of(operator, INDEX)
    assert "Over a limit" in text
    assert "Because the indexes use more memory than they may." in text
    assert "Raise MEMORYHUB_INDEX_CACHE_MB" in text
    assert "4.8 MB" in text


def test_large_indexes_are_listed_with_their_recall_over_time(operator: Client, large: None) -> None:
    for recall in (0.9, 0.98):
        RecallCheck.objects.create(
            user_id="ana", at=timezone.now(), memories=4, queries=50, recall=recall, exact_ms=2.0, graph_ms=0.2
        )
    text = text_of(operator, INDEX)
    assert "4 memories, exact, until its graph is built" in text
    assert "Recall 98.0 % in 50 questions" in text
    assert "Recall of the last checks: 90.0 %, 98.0 %" in text


def test_building_and_verifying_are_tasks(operator: Client, large: None) -> None:
    for name in ("build", "verify"):
        answer = operator.post(reverse(f"cockpit_index_{name}"), {"user": "ana"}, follow=True)
        assert "in the background" in answer.content.decode()
    functions = {task.func() for task in OrmQ.objects.all()}
    assert {"apps.semantic.tasks.build_graph", "apps.semantic.tasks.verify_recall"} <= functions
    refused = operator.post(reverse("cockpit_index_build"), {"user": "ben"}, follow=True).content.decode()
    assert "has a graph" in refused


def test_reembedding_shows_progress(operator: Client, large: None) -> None:
    space = EmbeddingSpace.objects.create(model="newer", dimension=384, created_at=timezone.now())
    for row in MemoryEmbedding.objects.all()[:2]:
        MemoryEmbedding.objects.create(memory_id=row.memory_id, space=space, vector=row.vector)
    text = text_of(operator, reverse("cockpit_index_live"))
    assert "New vectors by newer" in text
    assert "2 of 5 made (40 %)" in text


def test_who_may_look_cannot_act_and_others_see_nothing(staff: Callable[..., Client], large: None) -> None:
    client = staff("view_memory", "view_embeddingspace")
    assert "Build now" not in text_of(client, INDEX)
    for name in ("build", "verify"):
        assert client.post(reverse(f"cockpit_index_{name}"), {"user": "ana"}).status_code == 403
    client.logout()
    assert client.get(INDEX).status_code == 302


def test_who_may_not_see_memories_sees_no_ids(staff: Callable[..., Client], large: None) -> None:
    assert staff("view_embeddingspace").get(INDEX).status_code == 403


def test_id_is_never_markup(operator: Client, remember: Callable[..., Memory]) -> None:
    remember("tea", user='"><script>alert(1)</script>')
    assert "<script>alert(1)" not in text_of(operator, INDEX)


def test_page_takes_as_many_queries_with_many_users(
    operator: Client, large: None, remember: Callable[..., Memory]
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            text_of(operator, INDEX)
        return len(made)

    queries()
    few = queries()
    for number in range(6):
        remember("tea", user=f"user {number}")
        RecallCheck.objects.create(user_id=f"user {number}", at=timezone.now(), memories=1, recall=1.0)
    assert queries() <= few


def test_caches_are_shown_with_size_and_bound(operator: Client) -> None:
    caches = [["analysed texts", 1_234, 5 * MB, 20 * MB], ["words", 7, MB // 2, 8 * MB]]
    publish(ProcessKind.WEB, {}, {"index": index_facts(), "caches": caches})
    text = " ".join(re.sub("<[^>]+>", " ", text_of(operator, INDEX)).split())
    assert "5.5 MB of 28.0 MB" in text
    assert "analysed texts 1234 5.0 MB 20.0 MB" in text
    assert "words 7 0.5 MB 8.0 MB" in text


@pytest.mark.quick
def test_process_publishes_every_cache(remember: Callable[..., Memory]) -> None:
    remember("My sister moved to Porto.")
    published = {name: (entries, size, bound) for name, entries, size, bound in cache_facts()}
    assert set(published) == set(CACHES)
    assert published["indexes of memories"][2] == 1024 * MB
    assert published["words"][0] > 0
    assert all(size <= bound for _, size, bound in published.values())


def test_without_facts_no_cache_is_shown(operator: Client) -> None:
    publish(ProcessKind.WEB, {}, {"index": index_facts()})
    assert "No web process has reported on its caches yet." in text_of(operator, INDEX)
