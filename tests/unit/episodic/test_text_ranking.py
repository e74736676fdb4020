"""Which events of a window are compared with a text, and how they rank."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.scope import Scope
from apps.episodic.domain import text_ranking
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.text_ranking import CANDIDATE, EventIndex
from apps.retrieval.domain.lexemes import document_lexemes
from apps.retrieval.domain.query import Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank, terms_of
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.substance import question_share
from tests.integration.episodic.records import NOW, record

WORDS = ("tea", "lake", "train", "letter", "garden")
DIMENSION = 8
TEXT = "tea by the lake"
Vector = npt.NDArray[np.float32]


def vector_of(text: str) -> Vector:
    """A unit vector that depends on nothing but the text."""
    numbers = np.random.default_rng(crc32(text.encode())).normal(size=DIMENSION).astype(np.float32)
    return np.asarray(numbers / np.linalg.norm(numbers), dtype=np.float32)


def events_of(*contents: str) -> list[EventRecord]:
    """Events with these contents, the newest first."""
    return [record(len(contents) - place, content=content) for place, content in enumerate(contents)]


def search(mode: SearchMode = SearchMode.HYBRID, text: str = TEXT) -> SearchQuery:
    return SearchQuery(query=text, mode=mode, top_k=1000)


def ranked(events: list[EventRecord], question: SearchQuery) -> tuple[EventIndex, Ranking]:
    index = EventIndex(events, DIMENSION)
    vectors = {place: vector_of(events[place].content) for place in index.to_compare(question)}
    return index, index.rank_by_meaning(question, vector_of(TEXT), vectors, NOW)


def contents(index: EventIndex, ranking: Ranking) -> list[str]:
    return [index.event(hit.id).content for hit in ranking.hits]


def plain_ranking(events: list[EventRecord], question: SearchQuery) -> dict[int, float]:
    """What the ranking of memories says of the same texts: arrival and score."""
    index = RowStore(DIMENSION)
    index.apply(
        IndexRow(
            id=event.arrival,
            active=True,
            coded=("", "", ""),
            happened=event.timestamp.timestamp(),
            anchor=0.0,
            base_confidence=1.0,
            question_share=question_share(event.content),
            fullness=0.1,
            lexemes=document_lexemes(event.content, occurred_at=event.timestamp),
            vector=vector_of(event.content).tobytes(),
        )
        for event in events
    )
    ranking = rank(question, Scope(), vector_of(TEXT), terms_of(question), [index], NOW, {})
    return {hit.id: hit.score for hit in ranking.hits}


CONTENTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=20)


@given(CONTENTS, st.sampled_from([SearchMode.HYBRID, SearchMode.VECTOR]))
def test_a_few_events_are_ranked_as_memories_are(texts: list[str], mode: SearchMode) -> None:
    events = events_of(*texts)
    index, ranking = ranked(events, search(mode))
    found = {index.event(hit.id).arrival: hit.score for hit in ranking.hits}
    assert found == pytest.approx(plain_ranking(events, search(mode)), abs=2e-6)
    assert [hit.score for hit in ranking.hits] == sorted(found.values(), reverse=True)


@given(CONTENTS)
def test_by_words_alone_only_events_with_word_of_text_are_found(texts: list[str]) -> None:
    index = EventIndex(events_of(*texts), 1)
    ranking = index.rank_by_words(search(SearchMode.KEYWORD), NOW)
    expected = [text for text in texts if {"tea", "lake"} & set(text.split())]
    assert sorted(contents(index, ranking)) == sorted(expected)
    assert ranking.filtered == {"no_common_word": len(texts) - len(expected)}


def test_best_by_words_are_compared_then_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_ranking, "MAX_COMPARED", 4)
    index = EventIndex(events_of("train", "letter", "garden", "tea", "train", "tea by the lake", "letter"), DIMENSION)
    assert index.to_compare(search()) == [5, 3, 0, 1]
    assert index.to_compare(search(SearchMode.VECTOR)) == [5, 3, 0, 1]


def test_event_that_was_not_compared_and_shares_no_word_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_ranking, "MAX_COMPARED", 2)
    index, ranking = ranked(events_of("train", "letter", "garden", "tea", "lake", "tea"), search())
    assert sorted(contents(index, ranking)) == ["lake", "tea", "tea"]
    assert (ranking.matched, ranking.filtered) == (3, {CANDIDATE: 3})


def test_event_found_by_words_alone_has_no_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_ranking, "MAX_COMPARED", 1)
    index, ranking = ranked(events_of("tea", "tea by the lake", "train"), search())
    similarities = {index.event(hit.id).content: hit.similarity for hit in ranking.hits}
    assert similarities["tea"] is None
    assert similarities["tea by the lake"] == pytest.approx(1.0)


def test_what_is_left_out_counts_in_rarity_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["tea", *["train"] * 6]
    few = ranked(events_of(*texts), search())[1]
    monkeypatch.setattr(text_ranking, "MAX_COMPARED", 1)
    limited = ranked(events_of(*texts), search())[1]
    assert limited.hits[0].keyword == max(hit.keyword for hit in few.hits) > 0


def test_in_vector_mode_only_compared_events_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_ranking, "MAX_COMPARED", 2)
    ranking = ranked(events_of("train", "tea", "lake", "tea"), search(SearchMode.VECTOR))[1]
    assert len(ranking.hits) == 2
    assert ranking.filtered == {CANDIDATE: 2}


def test_of_equals_the_newer_one_is_the_better() -> None:
    older, newer = record(1, content="tea"), record(2, content="tea", timestamp=NOW + timedelta(minutes=1))
    index = EventIndex([newer, replace(older, timestamp=newer.timestamp)], 1)
    ranking = index.rank_by_words(search(SearchMode.KEYWORD), NOW)
    assert [index.event(hit.id).arrival for hit in ranking.hits] == [2, 1]


def test_day_of_event_is_found_by_its_words() -> None:
    index = EventIndex([record(1, content="train"), record(2, content="train", timestamp=NOW - timedelta(90))], 1)
    ranking = index.rank_by_words(search(SearchMode.KEYWORD, "in December 2025"), NOW)
    assert [index.event(hit.id).arrival for hit in ranking.hits] == [2]


def test_questions_count_for_less_among_events_too() -> None:
    index, ranking = ranked(events_of("tea by the lake?", "tea by the lake"), search())
    by_content = {index.event(hit.id).content: hit for hit in ranking.hits}
    assert by_content["tea by the lake?"].substance < by_content["tea by the lake"].substance == 1.0


def test_day_of_an_event_is_that_of_its_writer() -> None:
    sunday_evening = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    events = [replace(record(1, content="dinner"), timestamp=sunday_evening)]

    for text, found in (("sunday", 1), ("monday", 0)):
        question = search(SearchMode.KEYWORD, text)
        assert len(EventIndex(events, 1).rank_by_words(question, NOW).hits) == found
