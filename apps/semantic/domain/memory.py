"""What a caller wants to be remembered."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope
from apps.semantic.domain.confidence import DecayPolicy

TAGS = ("agent", "personality", "project", "type")
# In a search by one of these a global memory is found whatever its own tag is (spec 004).
TAGS_OF_PLACES = ("agent", "personality", "project")
# In the metadata, where the hub itself made a memory: of the event, and of the extraction.
EVENT_KEY, TYPE_KEY, POLICY_KEY, EXTRACTION_KEY = (
    "episodic_event_id", "episodic_event_type", "routing_policy", "extraction",
)  # fmt: skip
DEFAULT_IMPORTANCE = 0.5
DEFAULT_BASE_CONFIDENCE = 1.0
DEFAULT_SOURCE = "user"


@dataclass(frozen=True, eq=False, kw_only=True)
class Attributes:
    """What a writer may say of a memory besides its text, and what two that are stated again have together.

    importance: in [0, 1], None where its writer named none. How two of a value become one is in `domain.details`.
    """

    agent: str = ""
    personality: str = ""
    project: str = ""
    type: str = ""
    is_global: bool = False
    importance: float | None = None
    keywords: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    session_id: str = ""
    context: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


ATTRIBUTES = tuple(one.name for one in fields(Attributes))


@dataclass(frozen=True, eq=False)
class MemoryDraft(Attributes):
    """A memory to be saved; None where the caller named no value.

    confidence: in [0, 1]. origin: None for that of the caller (`Access.write_origin`). embedding: float32 of the active
    space's dimension, any length.
    """

    content: str
    scope: Scope = field(default_factory=Scope)
    decay_policy: DecayPolicy = DecayPolicy.STABLE
    confidence: float | None = None
    source: str | None = None
    origin: WriteOrigin | None = None
    embedding: npt.NDArray[np.float32] | None = None

    @property
    def base_confidence(self) -> float:
        """Return what the writer claims, 1.0 by default."""
        return DEFAULT_BASE_CONFIDENCE if self.confidence is None else self.confidence
