"""Inputs and outputs of memberships: who belongs to which household or persona."""

from typing import Annotated, Literal, TypedDict

from apps.core.models import Membership, MembershipState
from apps.core.schemas.fields import StrictChoiceField
from apps.core.schemas.outputs import Moment, render
from apps.core.schemas.paging import PageInput
from apps.core.schemas.serializers import ScopeInput

STATE = (
    "`member`, or `foreign`: something was written there in this user's name, but is not found there "
    "because nobody has said that they belong there. Only keys without a bound see foreign writes."
)


class MembershipInput(ScopeInput):
    """A user, and the household or the persona that they belong to: one of the two."""


class MembershipListInput(PageInput):
    """Which memberships to list."""

    state = StrictChoiceField(choices=MembershipState.values, required=False, help_text=STATE)


class MembershipOutput(TypedDict):
    """That a user belongs to a household or persona. made_by: who said so the last time."""

    id: str
    user_id: str
    household_id: str | None
    persona_id: str | None
    state: Annotated[Literal["member", "foreign"], STATE]
    made_by: str
    made_at: Moment


def render_membership(membership: Membership) -> MembershipOutput:
    """Return a membership as the API shows it."""
    return render(
        MembershipOutput,
        membership,
        household_id=membership.household_id or None,
        persona_id=membership.persona_id or None,
        state="member" if membership.state == MembershipState.MEMBER else "foreign",
    )
