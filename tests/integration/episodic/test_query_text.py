"""A text asked of a window: what is compared, what is left out, and what happens without an embedding model."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest

from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Scope
from apps.core.per_process import PerProcess
from apps.episodic.domain import text_ranking
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.window import EventQuery
from apps.episodic.queries import archived, text_search
from apps.episodic.queries import query as queries_query
from apps.episodic.queries.text_search import RankedEvents, VectorCache, rank_events
from apps.episodic.store import rows as store_rows
from apps.episodic.store.file_cache import archive_cache
from apps.llm.domain.embedder import EmbeddingSpaceId, EmbeddingUnavailableError, TextRole, Vectors
from apps.llm.embedding.embedder import embed_texts
from apps.retrieval.domain.query import SearchMode
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import Timeline, contents, draft

CONTENTS = ["Green tea in the morning", "A hut by the lake", "Letter from Porto", "Tea in the garden"]


class Counting:
    """Embeds, and remembers what."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self.texts += texts
        return embed_texts(texts, role)


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_search, "VECTOR_CACHE", PerProcess(VectorCache))


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    monkeypatch.setattr(text_search, "embed_texts", counting)
    return counting


@pytest.fixture
def timeline(db: None) -> Timeline:
    """Four events, the older two of them archived."""
    timeline = Timeline()
    for number, content in enumerate(CONTENTS):
        timeline.record(draft(content, timestamp=NOW - timedelta(hours=4 - number)))
        if number == 1:
            timeline.archive()
    return timeline


def test_either_script_finds_the_other_and_vectors_of_what_is_not_read_do_not_count(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = Timeline()
    for content in ("換了新的濾水器", "換了臥室的燈"):
        timeline.record(draft(content))
    assert contents(timeline.query(text="滤水器", mode=SearchMode.KEYWORD)) == ["換了新的濾水器"]
    # As MiniLM says of Chinese.
    monkeypatch.setattr(text_search, "can_read", lambda text: text.isascii())
    result = timeline.query(text="滤水器")
    assert [round(hit.score, 1) for hit in result.hits] == [1.0, 0.0]


def test_rows_and_archived_events_are_ranked_together(timeline: Timeline) -> None:
    assert contents(timeline.query(text="tea", mode=SearchMode.KEYWORD)) == [CONTENTS[3], CONTENTS[0]]
    assert contents(timeline.query(text="a hut by a lake", top_k=1)) == [CONTENTS[1]]
    assert contents(timeline.query(text="a hut by a lake", mode=SearchMode.VECTOR, top_k=1)) == [CONTENTS[1]]


def test_text_is_asked_of_window_and_types(timeline: Timeline) -> None:
    result = timeline.query(text="tea", start=NOW - timedelta(hours=3), event_types=("message",))
    assert CONTENTS[0] not in contents(result)
    assert result.diagnostics.dropped["outside_window"] == 1
    assert timeline.query(text="tea", event_types=("visit",)).diagnostics.dropped["event_type"] == 4


def test_only_newest_are_compared_rest_is_counted(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries_query, "TEXT_LIMIT", 2)
    result = timeline.query(text="tea", mode=SearchMode.KEYWORD)
    assert contents(result) == [CONTENTS[3]]
    assert result.diagnostics.dropped["beyond_text_limit"] == 2
    assert result.diagnostics.dropped["no_match"] == 1


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[EventRecord]:
    """What the last query compared with its text."""
    seen: list[EventRecord] = []

    def spy(events: Sequence[EventRecord], query: EventQuery, now: datetime) -> RankedEvents:
        seen[:] = events
        return rank_events(events, query, now)

    monkeypatch.setattr(queries_query, "rank_events", spy)
    return seen


def newest_within(events: Sequence[EventRecord], limit: int, max_bytes: int) -> list[EventRecord]:
    """The newest of a list, up to the one that crosses the size."""
    found: list[EventRecord] = []
    for event in sorted(events, key=lambda event: event.order, reverse=True):
        if len(found) == limit or sum(len(one.content.encode()) for one in found) >= max_bytes:
            break
        found.append(event)
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_newest_events_within_size_are_compared(
    seed: int, compared: list[EventRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archived, "BYTES_AT_ONCE", 1_000)
    source, timeline = Random(seed), Timeline()
    for part in range(4):
        # Of all times in each part, so that files and rows overlap; some events share a moment.
        for number in range(source.randrange(20, 40)):
            content = f"tea {part} {number} " + source.choice(["x", "\u20ac"]) * source.choice([0, 5, 300, 3_000])
            fields = {
                "timestamp": NOW - timedelta(minutes=source.randrange(60)),
                "event_type": source.choice(["message", "visit"]),
                "scope": Scope(source.choice(["ana", "ben"])),
            }
            timeline.record(draft(content, **fields))
        if part < 3:
            timeline.archive()
    for _ in range(12):
        limit, max_bytes = source.choice([5, 30, 20_000]), source.choice([1, 100, 5_000, 60_000, 4_000_000])
        monkeypatch.setattr(queries_query, "TEXT_LIMIT", limit)
        monkeypatch.setattr(queries_query, "TEXT_BYTES", max_bytes)
        scope, types = source.choice([Scope(), Scope("ana")]), source.choice([(), ("visit",)])
        start = source.choice([None, NOW - timedelta(minutes=45)])
        result = timeline.query(
            text="tea", mode=SearchMode.KEYWORD, scope=scope, event_types=types, start=start, top_k=1_000
        )
        wanted, counts = timeline.expected(scope, start=start, event_types=types, top_k=1_000)
        assert compared == newest_within(wanted, limit, max_bytes)
        assert result.diagnostics.scanned == counts["scanned"]
        assert result.diagnostics.dropped["beyond_text_limit"] == len(wanted) - len(compared)


@pytest.mark.django_db
@pytest.mark.parametrize("is_archived", [False, True])
def test_of_large_events_hardly_more_is_read_than_compared(
    is_archived: bool, compared: list[EventRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries_query, "TEXT_BYTES", 100_000)
    monkeypatch.setattr(archived, "BYTES_AT_ONCE", 100_000)
    read: list[EventRecord] = []

    def counted(make: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            made = make(*given)
            read.extend(made if isinstance(made, list) else [made])
            return made

        return run

    timeline = Timeline()
    timeline.record(
        *[draft(f"{number} " + "tea " * 2_500, timestamp=NOW - timedelta(minutes=number)) for number in range(60)]
    )
    if is_archived:
        timeline.archive()
    archive_cache().refresh()
    monkeypatch.setattr(SegmentFile, "read_runs", counted(SegmentFile.read_runs))
    monkeypatch.setattr(store_rows, "record_of", counted(store_rows.record_of))
    result = timeline.query(text="tea", mode=SearchMode.KEYWORD)
    assert [event.content.split()[0] for event in compared] == [str(number) for number in range(10)]
    assert result.diagnostics.dropped["beyond_text_limit"] == 50
    # A block of a file holds up to 128 KiB; events are read by the block.
    assert 10 <= len(read) <= (36 if is_archived else 10)


@pytest.mark.django_db
def test_without_text_size_of_events_leaves_none_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries_query, "TEXT_BYTES", 1)
    monkeypatch.setattr(archived, "BYTES_AT_ONCE", 1)
    timeline = Timeline()
    for number in range(4):
        timeline.record(draft(f"event {number}", timestamp=NOW - timedelta(minutes=number)))
        if number % 2:
            timeline.archive()
    assert contents(timeline.query(top_k=3)) == ["event 0", "event 1", "event 2"]


def test_number_compared_by_meaning_is_reported(
    timeline: Timeline, embedded: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_ranking, "MAX_COMPARED", 2)
    account = timeline.query(text="letter").diagnostics
    assert account.text is not None
    assert (account.text.mode, account.text.compared_by_meaning, account.text.fallback) == ("hybrid", 2, None)
    assert account.dropped["not_compared"] == 2
    assert embedded.texts == ["letter", CONTENTS[2], CONTENTS[3]]


def test_vectors_are_kept_for_the_next_query(timeline: Timeline, embedded: Counting) -> None:
    first = timeline.query(text="lake")
    assert sorted(embedded.texts) == sorted(["lake", *CONTENTS])
    assert timeline.query(text="lake").hits == first.hits
    assert len(embedded.texts) == 5


def test_by_words_alone_nothing_is_embedded(timeline: Timeline, embedded: Counting) -> None:
    timeline.query(text="tea", mode=SearchMode.KEYWORD)
    timeline.query(text="tea", end=NOW - timedelta(days=1))
    assert embedded.texts == []


# --- without a model ----------------------------------------------------------------------------------


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(texts: Sequence[str], role: TextRole) -> Vectors:
        raise EmbeddingUnavailableError("No answer.", retryable=True)

    monkeypatch.setattr(text_search, "embed_texts", refuse)


@pytest.mark.usefixtures("no_model")
def test_without_model_words_alone_decide_and_answer_says_so(timeline: Timeline) -> None:
    result = timeline.query(text="tea")
    assert contents(result) == [CONTENTS[3], CONTENTS[0]]
    account = result.diagnostics.text
    assert account is not None
    assert (account.mode, account.compared_by_meaning, account.fallback) == ("keyword", 0, "embedding_unavailable")
    assert result.diagnostics.dropped["no_match"] == 2


@pytest.mark.usefixtures("no_model")
def test_without_model_nothing_is_found_by_meaning(timeline: Timeline) -> None:
    with pytest.raises(UnavailableError) as refused:
        timeline.query(text="tea", mode=SearchMode.VECTOR)
    assert refused.value.code == "embedding_unavailable"
    assert timeline.query(text="tea", mode=SearchMode.KEYWORD).diagnostics.text.fallback is None  # type: ignore[union-attr]


# --- the cache of vectors -----------------------------------------------------------------------------


def test_text_that_stands_twice_is_embedded_once(embedded: Counting) -> None:
    one, other, again = VectorCache().vectors(["tea", "lake", "tea"])
    assert embedded.texts == ["tea", "lake"]
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_vectors_used_last_are_kept_within_size(embedded: Counting) -> None:
    room_for_two = 2 * (embed_texts(["a"]).nbytes + text_search.ENTRY_BYTES)
    cache = VectorCache(room_for_two)
    cache.vectors(["one", "two"])
    cache.vectors(["one"])
    cache.vectors(["three"])
    assert 0 < cache.nbytes <= room_for_two
    embedded.texts.clear()
    cache.vectors(["one", "three"])
    assert embedded.texts == []
    cache.vectors(["two"])
    assert embedded.texts == ["two"]


def test_more_texts_than_there_is_room_for_are_all_answered(embedded: Counting) -> None:
    cache, texts = VectorCache(1), ["one", "two", "three"]
    assert np.array_equal(np.stack(cache.vectors(texts)), embed_texts(texts))
    assert cache.nbytes == 0


def test_kept_vector_keeps_nothing_else_in_memory(embedded: Counting) -> None:
    cache = VectorCache()
    cache.vectors(["one", "two"])
    assert all(vector.base is None for vector in cache._vectors.values())


def test_vectors_of_another_model_are_made_anew(embedded: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        space = EmbeddingSpaceId("another", 384)

    cache = VectorCache()
    cache.vectors(["tea"])
    monkeypatch.setattr(text_search, "get_embedder", lambda: Other())
    cache.vectors(["tea"])
    assert embedded.texts == ["tea", "tea"]
