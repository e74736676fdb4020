"""The one rule by which the same event is known again (spec 000, Record episodic event).

Two events are the same when they are of the same user, household and persona, of the same type, at the same
microsecond, and of the same content after `normalise_content`. Importance, source and metadata do not count.
"""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from apps.episodic.domain.event import ScopeKey
from apps.retrieval.domain.content import normalise_content

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def event_identity(key: ScopeKey, event_type: str, timestamp: datetime, content: str) -> UUID:
    """The first 128 bits of the SHA-256 of what makes an event this one. timestamp: aware, of any offset."""
    micros = (timestamp - EPOCH) // _MICROSECOND
    digest = hashlib.sha256(_encoded([*key, event_type, str(micros), normalise_content(content)]))
    return UUID(bytes=digest.digest()[:16])


def _encoded(parts: Iterable[str]) -> bytes:
    """The parts one after another, each behind its length, so that no two lists look alike."""
    raw = [part.encode("utf-8", "replace") for part in parts]
    return b"".join(len(part).to_bytes(8, "big") + part for part in raw)
