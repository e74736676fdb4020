"""Types of the keys of answers, which are TypedDicts: mypy checks them, and the OpenAPI document describes them.

An answer is filled by one plain function, as DRF's fields would take longer than the call itself in a large batch.
"""

from datetime import datetime
from typing import Annotated, Any, overload

from rest_framework import serializers

from apps.core.schemas.fields import JSONObjectField

Uuid = Annotated[str, serializers.UUIDField()]
Moment = Annotated[str, serializers.DateTimeField()]
Url = Annotated[str, serializers.URLField()]
JSONObject = Annotated[dict[str, Any], JSONObjectField()]


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """Return ISO 8601 in the moment's own offset, `Z` for UTC, with microseconds where there are any; None for None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
