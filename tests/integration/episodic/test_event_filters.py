"""Filters of events: rows by the database and lines of files answer as a naive reading of the same events does."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from apps.core.domain.filters.match import matches
from apps.core.domain.filters.parse import parse_filter
from apps.core.domain.scope import Scope
from apps.episodic.domain.event import EVENT_FIELDS, EventDraft, event_values
from tests.effort import examples
from tests.integration.episodic.timeline import Timeline
from tests.integration.semantic.test_filters import HOSTILE, STEPS, Source

pytestmark = pytest.mark.django_db

TYPES = ["message", "visit", "order:paid"]


class EventSource(Source):
    """Random events and filters."""

    fields = EVENT_FIELDS

    def moment(self) -> datetime:
        return super().moment() - timedelta(days=100)

    def event(self, number: int) -> EventDraft:
        choose = self.random.choice
        return EventDraft(
            timestamp=self.moment(),
            event_type=choose(TYPES),
            content=f"event {number}",
            scope=Scope(choose(["ana", "ben"]), choose([None, "h"]), choose([None, "p"])),
            importance=choose([0.0, 0.1, 0.5, 0.7, 1.0]),
            source=choose(["user", "shop", "o'clock", "%", "é"]),
            metadata={choose(STEPS): self.json() for _ in range(self.random.randint(0, 4))},
        )


@pytest.mark.parametrize("places", ["rows", "files", "both"])
def test_random_filters_find_what_a_naive_reading_finds(places: str) -> None:
    source, timeline = EventSource(7), Timeline()
    timeline.record(*[source.event(number) for number in range(60)])
    if places != "rows":
        timeline.archive()
    if places == "both":
        timeline.record(*[source.event(number) for number in range(60, 120)])
    rows: list[dict[str, Any]] = [event_values(event) for event in timeline.model]
    count, found = examples(1_500), 0
    for number in range(count):
        asked = source.filter(rows)
        where = parse_filter(asked, EVENT_FIELDS)
        expected = {row["id"] for row in rows if matches(where, row)}
        result = timeline.query(where=where, top_k=1_000)
        assert {event.uuid for event in result.events} == expected, (number, asked)
        assert result.diagnostics.dropped["filter"] == len(rows) - len(expected)
        found += 0 < len(expected) < len(rows)
    assert found > count / 10, "most filters find everything or nothing"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_paths_and_values_are_only_data(text: str) -> None:
    source, timeline = EventSource(3), Timeline()
    hostile = EventDraft(source.moment(), "message", "one", Scope("ana"), metadata={text: {text: text}})
    asked = {f"metadata.{text}.{text}": text, "metadata.x": {"exists": False}}
    where = parse_filter(asked, EVENT_FIELDS)
    timeline.record(hostile, source.event(1))
    assert [event.content for event in timeline.query(where=where).events] == ["one"]
    timeline.archive()
    assert [event.content for event in timeline.query(where=where).events] == ["one"]
    assert "episodic_timelineevent" in connection.introspection.table_names()
