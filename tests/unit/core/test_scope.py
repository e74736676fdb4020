"""Scopes and what the holder of a key may touch: DESIGN D1."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.errors import ForbiddenError, InvalidInputError
from apps.core.domain.scope import IDENTIFIERS, Access, AccessStoppedError, Permission, Reach, Scope, system_access

NAMES = st.one_of(st.none(), st.sampled_from(["ana", "ben", ""]))
SCOPES = st.builds(Scope, NAMES, NAMES, NAMES)
ROWS = st.builds(Scope, *[st.sampled_from(["ana", "ben", ""])] * 3)


def matches(scope: Scope, row: Scope) -> bool:
    """Whether a row lies in a scope, said the plain way."""
    named = all(getattr(scope, name) in (None, getattr(row, name)) for name in IDENTIFIERS)
    return named and row.user_id not in scope.without


def access(bound: Scope, permission: Permission = Permission.WRITE) -> Access:
    return Access(bound, permission, "key:test")


@given(SCOPES, SCOPES)
def test_intersecting_is_commutative(one: Scope, other: Scope) -> None:
    assert one.intersect(other) == other.intersect(one)


@given(SCOPES, SCOPES, SCOPES)
def test_intersecting_is_associative(one: Scope, two: Scope, three: Scope) -> None:
    left, right = one.intersect(two), two.intersect(three)
    assert (left and left.intersect(three)) == (right and one.intersect(right))


@given(SCOPES)
def test_intersecting_with_itself_or_with_everything_changes_nothing(scope: Scope) -> None:
    assert scope.intersect(scope) == scope.intersect(Scope()) == scope


@given(SCOPES, SCOPES, ROWS)
def test_intersection_holds_exactly_rows_of_both(one: Scope, other: Scope, row: Scope) -> None:
    both = one.intersect(other)
    assert (both is not None and matches(both, row)) == (matches(one, row) and matches(other, row))


@given(SCOPES, SCOPES, ROWS)
def test_a_read_is_never_wider_than_the_bound(bound: Scope, asked: Scope, row: Scope) -> None:
    scope = access(bound).for_read(asked)
    if scope is not None and matches(scope, row):
        assert matches(bound, row)
        assert matches(asked, row)


OWNERS = st.lists(st.sampled_from(["ana", "ben", "team:tea", ""]), max_size=4)


def covers(reach: Reach, row: Scope) -> bool:
    return row.user_id in reach.owners or (reach.scope is not None and matches(reach.scope, row))


@given(SCOPES, SCOPES, OWNERS, OWNERS, ROWS)
def test_a_read_covers_what_is_asked_for_inside_the_bound_and_what_is_granted_and_included(
    bound: Scope, asked: Scope, reads: list[str], include: list[str], row: Scope
) -> None:
    reader = Access(bound, Permission.WRITE, "key:test", tuple(reads))
    own = matches(bound, row) and matches(asked, row)
    whole = bound.household_id is None and bound.persona_id is None and matches(bound, row)
    further = row.user_id in include and (row.user_id in reads or whole)
    assert covers(reader.reach(asked, include), row) == (own or further)
    assert covers(reader.readable, row) == (matches(bound, row) or row.user_id in reads)


@given(SCOPES, SCOPES, OWNERS)
def test_what_is_not_granted_is_like_what_does_not_exist(bound: Scope, asked: Scope, include: list[str]) -> None:
    reader = access(bound)
    mine = [owner for owner in include if bound.contains(Scope(owner))]
    assert reader.reach(asked, include) == reader.reach(asked, mine)


@given(SCOPES, SCOPES, OWNERS)
def test_a_grant_changes_no_write_and_no_read_without_include(bound: Scope, asked: Scope, reads: list[str]) -> None:
    plain, granted = access(bound), Access(bound, Permission.WRITE, "key:test", tuple(reads))
    assert granted.for_read(asked) == plain.for_read(asked)
    assert granted.reach(asked) == plain.reach(asked) == Reach(plain.for_read(asked))
    if bound.intersect(asked) is not None:
        assert granted.for_removal(asked, "dora") == plain.for_removal(asked, "dora")


TIES = st.lists(
    st.sampled_from([tie for row in product(["ana", "ben", "dora", ""], repeat=3) for tie in Scope(*row).ties()])
)


@given(SCOPES, SCOPES, TIES)
def test_write_lies_inside_bound_and_ties_or_is_refused(bound: Scope, asked: Scope, ties: list[Scope]) -> None:
    user = next(name for name in (asked.user_id, bound.user_id, "dora") if name is not None)
    named = {**bound.ends(), **asked.ends()}
    row = Scope(user, named.get("household_id"), named.get("persona_id"))
    needed = [tie for tie in row.ties() if not bound.ends().items() >= tie.ends().items()]
    may = bound.intersect(asked) is not None and (
        not bound.named() or set(needed) <= (set(ties) if bound.user_id else set())
    )
    if not may:
        with pytest.raises(ForbiddenError):
            access(bound).for_write(asked, "dora", is_tied=lambda tie: tie in ties)
        return
    scope = access(bound).for_write(asked, "dora", is_tied=lambda tie: tie in ties)
    assert bound.intersect(scope) == scope
    assert scope.named().items() >= asked.named().items()


@given(SCOPES, SCOPES, TIES, ROWS)
def test_read_of_a_household_has_nothing_of_outsiders(
    bound: Scope, asked: Scope, foreign: list[Scope], row: Scope
) -> None:
    reader = Access(bound, Permission.WRITE, "key:test", foreign=tuple(foreign))
    ends = {**bound.ends(), **asked.ends()}.items()
    is_outside = any(tie.user_id == row.user_id and tie.ends().items() <= ends for tie in foreign)
    own = matches(bound, row) and matches(asked, row)
    assert covers(reader.reach(asked), row) == (own and not is_outside)
    if matches(bound, row):
        outside_bound = any(
            tie.user_id == row.user_id and tie.ends().items() <= bound.ends().items() for tie in foreign
        )
        assert reader.bound.contains(row) is not outside_bound


@given(SCOPES, ROWS)
def test_ties_are_made_by_whoever_is_bound_to_no_user(bound: Scope, row: Scope) -> None:
    writer = Access(bound, Permission.WRITE, "key:test", makes_ties=True)
    claims = writer.claims(row)
    assert set(claims) <= set(row.ties())
    assert not (claims and bound.user_id)
    assert all(not bound.named() or bound.ends().items() >= tie.ends().items() for tie in claims)
    assert access(bound).claims(row) == []


def test_write_takes_user_it_names_then_that_of_key_then_configured_one() -> None:
    assert access(Scope()).for_write(Scope("ana"), "dora").user_id == "ana"
    assert access(Scope("ana")).for_write(Scope(), "dora").user_id == "ana"
    assert access(Scope()).for_write(Scope(), "dora").user_id == "dora"
    assert access(Scope(household_id="home")).for_write(Scope(), "dora") == Scope("dora", "home")


def test_a_write_without_any_user_is_refused() -> None:
    with pytest.raises(InvalidInputError) as refused:
        access(Scope(household_id="home")).for_write(Scope())
    assert (refused.value.attr, refused.value.code) == ("user_id", "required")


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_write_for_somebody_else_names_field(name: str) -> None:
    with pytest.raises(ForbiddenError) as refused:
        access(Scope(**{name: "mine"})).for_write(Scope(**{"user_id": "ana", name: "yours"}))
    assert refused.value.attr == name
    assert "mine" not in refused.value.detail


@pytest.mark.parametrize(
    ("permission", "allowed"),
    [
        (Permission.READ, [Permission.READ]),
        (Permission.WRITE, [Permission.READ, Permission.WRITE]),
        (Permission.OPERATOR, [Permission.READ, Permission.WRITE, Permission.OPERATOR]),
    ],
)
def test_each_permission_includes_ones_before_it(permission: Permission, allowed: list[Permission]) -> None:
    assert [needed for needed in Permission if access(Scope(), permission).allows(needed)] == allowed


def test_hub_itself_may_do_everything_everywhere() -> None:
    hub = system_access()
    assert hub.bound == Scope()
    assert hub.allows(Permission.OPERATOR)


def test_a_scope_names_only_what_is_set() -> None:
    assert Scope("ana", None, "").named() == {"user_id": "ana", "persona_id": ""}


WITHOUT = st.lists(st.sampled_from(["ana", "ben"]), max_size=2, unique=True).map(lambda users: tuple(sorted(users)))
STOPPED = st.builds(lambda scope, users: replace(scope, without=users), SCOPES, WITHOUT)


@given(STOPPED, STOPPED, ROWS)
def test_no_row_of_who_is_left_out_is_in_an_intersection(one: Scope, other: Scope, row: Scope) -> None:
    both = one.intersect(other)
    plain = all(matches(scope, row) and row.user_id not in scope.without for scope in (one, other))
    assert (both is not None and matches(both, row) and row.user_id not in both.without) == plain
    assert both == other.intersect(one)
    assert one.contains(row) == (matches(one, row) and row.user_id not in one.without)


@given(STOPPED, SCOPES, OWNERS, OWNERS)
def test_a_read_that_names_who_stopped_the_key_is_refused(
    bound: Scope, asked: Scope, reads: list[str], include: list[str]
) -> None:
    reader = Access(bound, Permission.WRITE, "key:test", tuple(reads))
    if {asked.user_id, bound.user_id} & set(bound.without):
        for call in (reader.for_read, reader.for_write, lambda scope: reader.reach(scope, include)):
            with pytest.raises(AccessStoppedError):
                call(asked)
    else:
        reach = reader.reach(asked, include)
        assert not set(reach.owners) & set(bound.without)
        assert reach.scope is None or reach.scope.user_id is not None or reach.scope.without == bound.without


def test_the_configured_user_can_stop_a_key_as_well() -> None:
    with pytest.raises(AccessStoppedError):
        access(Scope(without=("ana",))).for_write(Scope(), "ana")
    assert access(Scope(without=("ana",))).for_write(Scope(), "ben") == Scope("ben")


def test_everything_is_what_leaves_no_row_out() -> None:
    assert Scope().is_everything
    assert not Scope(without=("ana",)).is_everything
    assert not Scope(household_id="home").is_everything
