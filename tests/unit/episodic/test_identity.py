"""The rule of deduplication: what makes two events the same one."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import combinations
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from apps.episodic.domain.event import ScopeKey, event_identity
from apps.retrieval.domain.content import normalise_content

KEY = ScopeKey("ana", "home", "chef")
NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)
names = st.text(alphabet="a\x00\u00e9", max_size=2)
moments = st.sampled_from([NOON, NOON + timedelta(microseconds=1)])


def identity(key: ScopeKey = KEY, kind: str = "message", at: datetime = NOON, content: str = "Hello, World!") -> UUID:
    return event_identity(key, kind, at, content)


def test_case_spaces_and_closing_marks_make_no_other_event() -> None:
    assert identity(content="hello,   world!!") == identity(content="Hello, World")
    assert identity(content="hello world") != identity(content="hello, world")


def test_same_moment_counts_whatever_its_offset() -> None:
    assert identity(at=NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))) == identity()


def test_microsecond_type_or_identifier_makes_another_event() -> None:
    others = [
        identity(),
        identity(at=NOON + timedelta(microseconds=1)),
        identity(kind="Message"),
        identity(key=ScopeKey("ben", "home", "chef")),
        identity(key=ScopeKey("ana", "away", "chef")),
        identity(key=ScopeKey("ana", "home", "nurse")),
        identity(key=ScopeKey("ana", "home")),
        identity(key=ScopeKey("ana", "", "home")),
    ]
    assert all(one != other for one, other in combinations(others, 2))


def test_identity_stays_same_from_version_to_version() -> None:
    assert identity() == UUID("da286da0-208f-2226-fcdc-4c00d3020faa")


def test_a_lone_surrogate_has_an_identity() -> None:
    assert identity(content="\ud800") == identity(content="\udfff")


@given(st.tuples(names, names, names, names, moments, names), st.tuples(names, names, names, names, moments, names))
def test_equal_identity_means_equal_relevant_fields(
    one: tuple[str, str, str, str, datetime, str], other: tuple[str, str, str, str, datetime, str]
) -> None:
    same = (*one[:5], normalise_content(one[5])) == (*other[:5], normalise_content(other[5]))
    identities = {event_identity(ScopeKey(*event[:3]), *event[3:]) for event in (one, other)}
    assert (len(identities) == 1) == same
