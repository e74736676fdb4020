"""What others save changes no byte of what a key reads, in a hub that holds nothing else.

Not beside tests of a whole world of people: the confidence of their memories falls between two answers.
"""

import pytest

from apps.core.domain.scope import Scope
from tests.api import api_for
from tests.hostile.test_isolation import EACH_BOUND, EACH_GRANT, OWN, everything_seen, fill, quiet
from tests.hostile.world import SCOPES

pytestmark = pytest.mark.django_db


@EACH_GRANT
def test_what_is_not_granted_changes_no_byte_of_an_answer_that_includes_it(
    bound: Scope, reads: tuple[str, ...]
) -> None:
    own = Scope(bound.user_id or "ana", bound.household_id, bound.persona_id)
    for scope in (own, *(Scope(owner, "x") for owner in reads)):
        fill(scope, OWN)
    api = api_for(bound, reads=reads)
    include = [*reads, "dora", "nobody"]
    before = quiet(api.search("green tea in the morning", include=include, explain=True))
    fill(Scope("dora", "home", "chef") if bound.user_id else Scope("dora", "away"), [*OWN, "green tea of a zebra"])
    assert quiet(api.search("green tea in the morning", include=include, explain=True)) == before


@EACH_BOUND
def test_memories_of_others_change_no_byte_of_any_answer(bound: Scope) -> None:
    own = Scope(bound.user_id or "ana", bound.household_id, bound.persona_id)
    fill(own, OWN)
    api = api_for(bound)
    before = everything_seen(api)
    for scope in [*SCOPES, Scope("ana"), Scope("ben"), Scope("ana", "other"), Scope("ana", None, "other")]:
        if bound.intersect(scope) != scope:
            fill(scope, [*OWN, *(f"green tea number {n} of a zebra" for n in range(10))])
    for stranger in SCOPES:
        api_for(stranger).search("green tea")
    assert everything_seen(api) == before
