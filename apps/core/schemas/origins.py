"""Origins in inputs and outputs of the API (DESIGN D20)."""

from typing import Annotated, Any

from rest_framework import serializers

from apps.core.domain.origin import ORIGIN_ORDER, WriteOrigin
from apps.core.schemas.fields import StrictChoiceField

NAMES = [origin.value for origin in ORIGIN_ORDER]
OriginName = Annotated[
    str,
    serializers.ChoiceField(
        choices=NAMES, help_text="Where it comes from, according to the key or the tool, never the content."
    ),
]


class OriginField(StrictChoiceField):
    """An origin by its name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=NAMES, **{"required": False, **kwargs})

    def to_internal_value(self, data: Any) -> WriteOrigin:
        return WriteOrigin(super().to_internal_value(data))


def written_origin() -> OriginField:
    """Return the field of a write: a key names its own origin or a lower one."""
    return OriginField(
        help_text="Where it comes from: person, app, document or derived. Default: the origin of the key. A"
        " write may name a lower one."
    )
