"""What an operator of one owner must not configure, because it belongs to the whole hub: its secrets and its disk."""

from collections.abc import Mapping
from typing import Any

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.scope import Access
from apps.sync.models import KnowledgeSource
from apps.sync.repository.locations import is_public, parse_location

SECRETS = ("credentials", "webhook_secret")
FOR_ALL = "Only an operator without a bound may set this: secrets of the server belong to all owners."
FOR_PUBLIC = (
    "This key is bound to an owner: it may name a public https:// address. Paths of the server, other addresses, and "
    "sources with `credentials` are for an operator without a bound."
)


def check_reach(access: Access, kind: str, values: Mapping[str, Any], source: KnowledgeSource | None = None) -> None:
    """Raise ForbiddenError for values that need an operator without a bound; InvalidInputError for a bad location.

    values: as they would be stored. source: as it is, None for a new one; what stays the same needs nothing.
    """
    if access.bound.is_everything:
        return
    former = source or KnowledgeSource()
    for name in SECRETS:
        if values.get(name, getattr(former, name)) != getattr(former, name):
            raise ForbiddenError(FOR_ALL, attr=name)
    location = values.get("location", former.location)
    # The secret would be sent to the new address.
    if location != former.location and (former.credentials or not is_public(parse_location(location, kind=kind))):
        raise ForbiddenError(FOR_PUBLIC, attr="location")
