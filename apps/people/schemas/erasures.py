"""Inputs and outputs of erasures."""

from typing import Annotated, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import IdentifierField, StrictBooleanField
from apps.core.schemas.outputs import Moment, Uuid, iso, render
from apps.core.schemas.paging import cursor_field, limit_field
from apps.core.schemas.serializers import StrictSerializer
from apps.people.models import Erasure, ErasureState

Counts = Annotated[dict[str, int], "By store."]


class ErasureInput(StrictSerializer):
    """Whom to forget."""

    user_id = IdentifierField()
    dry_run = StrictBooleanField(required=False, default=False, help_text="Only report how much data there is.")


class ErasureListInput(StrictSerializer):
    """The query string of the list of erasures."""

    user_id = IdentifierField(
        required=False, help_text="Only the erasures of this user, matched by the keyed hash of the id."
    )
    limit = limit_field()
    cursor = cursor_field()
    count = serializers.BooleanField(required=False, default=serializers.empty, help_text="Add the total number.")


class ScanOutput(TypedDict):
    """The search for leftovers in every store at the end."""

    found: int
    stores: list[str]
    processes: Annotated[int, "Web processes that dropped what they had cached in memory."]


class CertificateOutput(TypedDict):
    """What was removed, and that nothing is left. Holds neither the id nor any content."""

    user_digest: Annotated[str, "HMAC-SHA256 of the id, with a key of this hub."]
    removed: Counts
    began_at: Moment
    finished_at: Moment
    scan: ScanOutput


class ErasureOutput(TypedDict):
    """An erasure. certificate: once it is finished."""

    id: Uuid
    state: Annotated[str, serializers.ChoiceField(choices=ErasureState.choices)]
    requested_by: str
    requested_at: Moment
    found: Counts
    left: Annotated[Counts | None, "For an open one: how much is left."]
    problems: Annotated[list[str], "Why it was refused or is waiting."]
    certificate: CertificateOutput | None


class PreviewOutput(TypedDict):
    """What an erasure would remove."""

    dry_run: bool
    found: Counts
    problems: Annotated[list[str], "What is in its way."]


def render_erasure(erasure: Erasure, left: dict[str, int] | None = None) -> ErasureOutput:
    """Return an erasure as the API shows it."""
    return render(ErasureOutput, erasure, left=left, certificate=render_certificate(erasure))


def render_certificate(erasure: Erasure) -> CertificateOutput | None:
    """Return the certificate of a finished erasure."""
    if erasure.state != ErasureState.FINISHED or erasure.began_at is None or erasure.finished_at is None:
        return None
    return {
        "user_digest": erasure.digest,
        "removed": erasure.found,
        "began_at": iso(erasure.began_at),
        "finished_at": iso(erasure.finished_at),
        "scan": {"found": 0, "stores": sorted(erasure.found), "processes": erasure.processes},
    }
