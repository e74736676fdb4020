"""Changing the embedding model and the text pipeline under stored memories."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.core.per_process import PerProcess
from apps.llm.domain.embedder import EmbeddingSpaceId, TextRole
from apps.llm.embedding import embedder as embedding_embedder
from apps.llm.embedding.hashing import HashingEmbedder
from apps.llm.models import EmbeddingSpace
from apps.llm.selectors import active_space
from apps.retrieval.domain.content import content_hash
from apps.retrieval.domain.lexemes import LEXEMES_VERSION
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.health import embedding_ready
from apps.semantic.index.cache import index_cache
from apps.semantic.memories import reembed as reembedding
from apps.semantic.memories.reembed import reembed, reembed_needed, refresh_words
from apps.semantic.models import Memory, MemoryEmbedding
from apps.semantic.search.search import memory_search
from apps.semantic.services import memories_purge, memory_save
from apps.semantic.store.embedding_space import forget_space
from apps.semantic.store.rows import word_columns
from tests.threads import someone_waits_for_a_lock

pytestmark = pytest.mark.django_db

PATIENCE = 30.0
BEN = Scope("ben")


class SmallEmbedder:
    """The hashing embedder under another name and of another dimension; may stop after some batches."""

    def __init__(self, batches: int | None = None) -> None:
        self._inner = HashingEmbedder(64)
        self._batches = batches

    space = EmbeddingSpaceId("small", 64)

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> npt.NDArray[np.float32]:
        if self._batches == 0:
            raise KeyboardInterrupt
        if self._batches is not None:
            self._batches -= 1
        return self._inner.embed(texts, role)

    def known_share(self, text: str) -> float:
        return self._inner.known_share(text)


@pytest.fixture
def three(remember: Callable[..., Memory]) -> None:
    for content in ("tea", "coffee", "water"):
        remember(content)


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallEmbedder]:
    """The hub is configured with another model than the stored vectors were made by."""
    embedder = SmallEmbedder()
    monkeypatch.setattr(embedding_embedder, "_embedder", PerProcess(lambda: embedder))
    forget_space()
    yield embedder
    forget_space()


def search(access: Access) -> list[str]:
    result = memory_search(access, SearchQuery(scope=Scope("ana"), query="tea", mode=SearchMode.VECTOR))
    return [found.memory.content for found in result.found]


def agreement(content: str, row: MemoryEmbedding) -> float:
    """The cosine of a stored vector and the one that the small embedder makes of a text."""
    return float(SmallEmbedder().embed([content])[0] @ np.asarray(row.vector, dtype=np.float32))


def test_changed_model_is_refused_with_command_that_helps(
    three: None, configured: SmallEmbedder, access: Access
) -> None:
    with pytest.raises(UnavailableError, match=r"manage\.py reembed"):
        search(access)
    with pytest.raises(UnavailableError, match=r"manage\.py reembed"):
        memory_save(access=access, draft=MemoryDraft("milk", scope=Scope("ana")))
    assert "manage.py reembed" in (embedding_ready() or "")


def test_after_reembedding_searches_use_new_vectors(three: None, configured: SmallEmbedder, access: Access) -> None:
    told: list[int] = []
    assert reembed(embedder=configured, progress=told.append) == sum(told) == 3
    assert [(space.model, space.dimension) for space in EmbeddingSpace.objects.filter(is_active=True)] == [
        ("small", 64)
    ]
    assert {len(row.vector) for row in MemoryEmbedding.objects.all()} == {64}
    assert search(access)[0] == "tea"


def test_reembedding_that_was_cut_off_goes_on_where_it_stopped(
    three: None, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.semantic.memories.reembed.BATCH_SIZE", 1)
    with pytest.raises(KeyboardInterrupt):
        reembed(embedder=SmallEmbedder(batches=2))
    assert search(access)[0] == "tea", "searchable meanwhile, with the old vectors"
    assert reembed_needed(SmallEmbedder()) == 1
    assert reembed(embedder=SmallEmbedder()) == 1
    assert MemoryEmbedding.objects.count() == 3


def test_memory_written_during_reembedding_gets_new_vector_too(
    three: None, access: Access, remember: Callable[..., Memory]
) -> None:
    reembed(embedder=SmallEmbedder(), progress=lambda _: remember("milk") and None)
    assert MemoryEmbedding.objects.filter(space=active_space()).count() == Memory.objects.count() == 4


def test_vectors_that_writers_gave_are_replaced_as_well(access: Access, remember: Callable[..., Memory]) -> None:
    given = np.ones(384, dtype=np.float32)
    remember("tea", embedding=given)
    assert MemoryEmbedding.objects.get().is_given
    reembed(embedder=SmallEmbedder())
    assert not MemoryEmbedding.objects.get().is_given
    assert agreement("tea", MemoryEmbedding.objects.get()) == pytest.approx(1.0)


class PurgingEmbedder(SmallEmbedder):
    """Ben's memories are purged between their being read and their vectors being stored."""

    def __init__(self, purge: Callable[[], object]) -> None:
        super().__init__()
        self._purge: Callable[[], object] | None = purge

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> npt.NDArray[np.float32]:
        purge, self._purge = self._purge, None
        if purge:
            purge()
        return super().embed(texts, role)


@pytest.mark.django_db(transaction=True)
def test_memories_purged_during_reembedding_are_left_out(
    three: None, access: Access, remember: Callable[..., Memory]
) -> None:
    remember("milk", scope=BEN)
    embedder = PurgingEmbedder(lambda: memories_purge(access=access, scope=BEN))
    assert reembed(embedder=embedder) == 3
    assert sorted(MemoryEmbedding.objects.values_list("memory__content", flat=True)) == ["coffee", "tea", "water"]
    assert str(active_space()) == str(EmbeddingSpace.objects.get(model="small"))


@pytest.mark.django_db(transaction=True)
def test_reembedding_waits_for_purge_that_is_under_way(
    three: None, access: Access, remember: Callable[..., Memory]
) -> None:
    remember("milk", scope=BEN)
    purged, waited = threading.Event(), threading.Event()

    def purge() -> None:
        try:
            with transaction.atomic():
                memories_purge(access=access, scope=BEN)
                purged.set()
                if someone_waits_for_a_lock():
                    waited.set()
        finally:
            connection.close()

    def start_and_wait() -> None:
        thread.start()
        purged.wait(PATIENCE)

    thread = threading.Thread(target=purge, daemon=True)
    assert reembed(embedder=PurgingEmbedder(start_and_wait)) == 3
    thread.join(PATIENCE)
    assert waited.is_set()
    assert MemoryEmbedding.objects.count() == Memory.objects.count() == 3


def similarities(access: Access) -> list[float | None]:
    """Of tea to what is found, as a process says that has the memories in memory."""
    result = memory_search(access, SearchQuery(scope=Scope("ana"), query="tea", mode=SearchMode.VECTOR))
    return [found.hit.similarity for found in result.found]


def test_vector_that_was_missing_is_searched_by_as_soon_as_it_is_made(three: None, access: Access) -> None:
    MemoryEmbedding.objects.filter(memory__content="tea").delete()
    index_cache().clear()
    assert max(similarities(access)) < 1.0  # type: ignore[type-var]
    reembed(embedder=embedding_embedder.get_embedder())
    assert similarities(access)[0] == 1.0


def test_graphs_of_model_before_go_with_its_vectors(
    three: None, configured: SmallEmbedder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept: list[str] = []

    def forget(space: EmbeddingSpace) -> None:
        kept.append(space.model)
        raise PermissionError("read-only")

    monkeypatch.setattr("apps.semantic.memories.reembed.delete_snapshots_of_other_spaces", forget)
    reembed(embedder=configured)
    assert kept == ["small"]
    assert "could not be removed: PermissionError" in caplog.text


def test_memories_stay_as_they_are_while_vectors_of_another_model_are_made(
    three: None, configured: SmallEmbedder
) -> None:
    before = list(Memory.objects.order_by("pk").values())
    reembed(embedder=configured)
    assert list(Memory.objects.order_by("pk").values()) == before


def test_no_batch_looks_again_at_what_one_before_has_done(three: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.semantic.memories.reembed.BATCH_SIZE", 1)
    ids = list(Memory.objects.order_by("id").values_list("id", flat=True))
    with CaptureQueriesContext(connection) as queries:
        reembed(embedder=SmallEmbedder())
    asked = [query["sql"] for query in queries if 'ORDER BY "semantic_memory"."id"' in query["sql"]]
    for last, sql in zip([0, *ids], asked, strict=True):
        assert f'"semantic_memory"."id" > {last}' in sql


def test_words_of_an_older_pipeline_are_made_anew(three: None, access: Access) -> None:
    Memory.objects.update(lexemes=b"", lexemes_version=0)
    assert refresh_words() == 3
    assert set(Memory.objects.values_list("lexemes_version", flat=True)) == {LEXEMES_VERSION}
    found = memory_search(access, SearchQuery(scope=Scope("ana"), query="coffee", mode=SearchMode.KEYWORD)).found
    assert [item.memory.content for item in found] == ["coffee"]


def test_process_with_old_model_notices_that_space_has_changed_under_it(three: None, access: Access) -> None:
    assert search(access)[0] == "tea"
    reembed(embedder=SmallEmbedder())
    with pytest.raises(UnavailableError, match=r"manage\.py reembed"):
        search(access)
    with pytest.raises(UnavailableError, match=r"manage\.py reembed"):
        memory_save(access=access, draft=MemoryDraft("milk", scope=Scope("ana")))


class EditingEmbedder(SmallEmbedder):
    """Has a memory changed while it embeds for the first time, as a caller may do meanwhile."""

    def __init__(self, edit: Callable[[], object]) -> None:
        super().__init__()
        self._edit: Callable[[], object] | None = edit

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> npt.NDArray[np.float32]:
        edit, self._edit = self._edit, None
        if edit is not None:
            edit()
        return super().embed(texts, role)


def test_words_that_change_during_a_reembedding_get_a_vector_of_their_own(three: None) -> None:
    tea = Memory.objects.get(content="tea")
    embedder = EditingEmbedder(
        lambda: Memory.objects.filter(pk=tea.pk).update(content="lemonade", content_hash=content_hash("lemonade"))
    )
    reembed(embedder=embedder)
    [vector] = MemoryEmbedding.objects.filter(memory=tea).values_list("vector", flat=True)
    assert np.allclose(vector, SmallEmbedder().embed(["lemonade"])[0], atol=1e-6)


def test_words_that_change_during_a_refresh_stay_findable(three: None, monkeypatch: pytest.MonkeyPatch) -> None:
    Memory.objects.update(lexemes_version=0)
    tea, lock = Memory.objects.get(content="tea"), reembedding.lock_shards

    def edited_before(users: Iterable[str]) -> Mapping[str, int]:
        Memory.objects.filter(pk=tea.pk).update(content="lemonade", content_hash=content_hash("lemonade"))
        return lock(users)

    monkeypatch.setattr(reembedding, "lock_shards", edited_before)
    assert refresh_words() == 3
    tea.refresh_from_db()
    assert bytes(tea.lexemes) == word_columns("lemonade", (), "", None)["lexemes"]
