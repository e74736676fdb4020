"""Classes of origin, and what a caller of each may write and change (DESIGN D20)."""

import pytest

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.origin import ORIGIN_ORDER, WriteOrigin, lowest_origin
from apps.core.domain.scope import Access, Permission, Scope, system_access

PERSON, APP, DOCUMENT, DERIVED = ORIGIN_ORDER


def access(origin: WriteOrigin) -> Access:
    return Access(Scope("ana"), Permission.WRITE, "key:test", origin=origin)


def test_each_class_is_below_those_before() -> None:
    for place, one in enumerate(ORIGIN_ORDER):
        assert [one.is_below(other) for other in ORIGIN_ORDER] == [place > rank for rank in range(4)]


def test_lowest_of_several() -> None:
    assert lowest_origin([APP, PERSON, DOCUMENT]) is DOCUMENT
    assert lowest_origin([PERSON]) is PERSON


def test_writes_as_its_own_class_or_lower() -> None:
    assert access(APP).write_origin(None) is APP
    assert access(APP).write_origin(DERIVED) is DERIVED


def test_higher_class_is_refused() -> None:
    with pytest.raises(ForbiddenError) as refused:
        access(DOCUMENT).write_origin(PERSON)
    assert refused.value.attr == "origin"


def test_operator_claims_no_higher_class() -> None:
    with pytest.raises(ForbiddenError):
        system_access().write_origin(PERSON)


def test_what_is_passed_on_may_be_vouched_for() -> None:
    passing = system_access("import", vouches=PERSON)
    assert (passing.write_origin(None), passing.write_origin(PERSON)) == (APP, PERSON)


def test_changes_what_is_not_above() -> None:
    assert [access(APP).may_change(origin) for origin in ORIGIN_ORDER] == [False, True, True, True]
    assert all(system_access(origin=DERIVED).may_change(origin) for origin in ORIGIN_ORDER)
