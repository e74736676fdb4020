"""Leafing through the file of a segment."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.models import Segment
from apps.episodic.queries.event_list import segment_page
from tests.effort import examples
from tests.integration.episodic.upkeep import an_archived_segment, archived

Stored = tuple[Segment, list[EventRecord]]
pytestmark = pytest.mark.django_db


@pytest.fixture
def stored() -> Stored:
    """A segment of some blocks and scopes, and its events."""
    segment = an_archived_segment(range(300))
    return segment, archived()


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.integers(1, 320))
def test_all_pages_together_are_events_of_file_in_its_order(stored: Stored, size: int) -> None:
    segment, events = stored
    first = segment_page(segment, 1, size)
    pages = [segment_page(segment, number, size) for number in range(1, first.count + 1)]
    assert [event for page in pages for event in page.events] == events
    assert all(len(page.events) == size for page in pages[:-1])


@pytest.mark.parametrize(("asked", "given_"), [(-5, 1), (0, 1), (2, 2), (3, 3), (99, 3)])
def test_nearest_page_is_given_for_one_that_is_not_there(asked: int, given_: int) -> None:
    page = segment_page(an_archived_segment(range(5)), asked, 2)
    assert (page.number, page.count) == (given_, 3)
    assert len(page.events) == (1 if given_ == 3 else 2)


def test_a_file_that_is_not_there_is_told_of(timeline_dir: Path) -> None:
    segment = an_archived_segment(range(5))
    (timeline_dir / segment.file_name).unlink()
    with pytest.raises(SegmentDamagedError, match="missing"):
        segment_page(segment, 1, 2)
