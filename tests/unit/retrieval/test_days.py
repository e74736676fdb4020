"""Words of dates in the time zone of a search."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.scope import Scope
from apps.core.domain.zones import find_zone
from apps.retrieval.domain.days import DaysOfRows, is_date_word, offsets_of
from apps.retrieval.domain.lexemes import document_lexemes
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank, terms_of
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.sessions import SESSION_KEY
from apps.retrieval.domain.text.terms import date_words, term_hash, terms_of_day

NEW_YORK, BERLIN = find_zone("America/New_York"), find_zone("Europe/Berlin")
ZONES = st.sampled_from([NEW_YORK, BERLIN, *map(find_zone, ("Asia/Kathmandu", "Pacific/Apia", "Africa/Casablanca"))])
SUNDAY = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
Row = tuple[str, datetime, bool]


def store_of(rows: Sequence[Row], session: str = "") -> RowStore:
    """A store of rows: what each says, when it happened, and whether its writer said so."""
    store = RowStore(4, SESSION_KEY)
    store.apply(
        IndexRow(
            id=number,
            active=True,
            coded=tuple(session if name == "session_id" else "" for name in SESSION_KEY),
            happened=moment.timestamp(),
            anchor=0.0,
            base_confidence=1.0,
            question_share=0.0,
            fullness=1.0,
            lexemes=document_lexemes(text, occurred_at=moment if is_dated else None),
            vector=b"",
        )
        for number, (text, moment, is_dated) in enumerate(rows, 1)
    )
    return store


def found(store: RowStore, text: str, zone: tzinfo | None) -> list[int]:
    search = SearchQuery(query=text, mode=SearchMode.KEYWORD, zone=zone)
    return sorted(hit.id for hit in rank(search, Scope(), None, terms_of(search), [store], SUNDAY, {}).hits)


def test_weekday_of_a_search_is_that_of_its_zone() -> None:
    store = store_of([("dinner", SUNDAY, True)])

    assert (found(store, "sunday", None), found(store, "monday", None)) == ([1], [])
    assert (found(store, "sunday", NEW_YORK), found(store, "monday", NEW_YORK)) == ([1], [])
    assert (found(store, "sunday", BERLIN), found(store, "monday", BERLIN)) == ([], [1])


@pytest.mark.parametrize("words", ["1 march", "2026-03-01", "march 1st"])
def test_day_and_month_are_those_of_the_zone(words: str) -> None:
    store = store_of([("dinner", datetime(2026, 3, 1, 4, tzinfo=UTC), True), ("lunch", SUNDAY, True)])

    assert found(store, words.split()[0] if "-" in words else words, NEW_YORK) == [1, 2] if "-" in words else [2]


def test_words_of_the_text_count_in_any_zone() -> None:
    store = store_of([("We always meet on Sunday", SUNDAY, False), ("sunday at 8", SUNDAY, True)])

    assert found(store, "sunday", BERLIN) == [1, 2]
    assert found(store, "8", BERLIN) == [2]


def test_row_without_a_date_has_no_day_in_any_zone() -> None:
    store = store_of([("dinner", SUNDAY, False)])

    assert found(store, "sunday", NEW_YORK) == found(store, "monday", BERLIN) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["tea", "tea on sunday", "monday 8 may", "in march 2026"]),
            st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    ),
    ZONES,
    st.sampled_from(["", "talk"]),
)
def test_weights_are_those_of_documents_with_the_words_of_the_zone(rows: list[Row], zone: tzinfo, session: str) -> None:
    """The search compares what it would if each row had been written in its zone."""
    stored, written_there = store_of(rows, session), store_of([(a, b.astimezone(zone), c) for a, b, c in rows], session)
    days = DaysOfRows(stored, zone)

    for moment in (moment for _, moment, _ in rows):
        for word in (*date_words(moment), *date_words(moment.astimezone(zone)), *terms_of_day(SUNDAY.date())):
            assert is_date_word(word)
            assert np.allclose(days.term_weights(word), written_there.term_weights(term_hash(word)))


@given(st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)), ZONES)  # noqa: DTZ001
def test_offsets_of_a_zone_are_those_that_python_knows(moment: datetime, zone: tzinfo) -> None:
    changes, offsets = offsets_of(zone)

    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    assert offsets[np.searchsorted(changes, moment.timestamp(), side="right")] == offset.total_seconds()


@pytest.mark.parametrize("word", ["tea", "sun", "12345", "2026-03", "3.5", ""])
def test_other_words_are_none_of_a_date(word: str) -> None:
    assert not is_date_word(word)
