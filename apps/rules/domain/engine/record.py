"""A memory in the conflict engine, and the order of sources by trust (spec 000 "Source-based arbitration")."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from apps.core.domain.origin import WriteOrigin
from apps.retrieval.domain.vectors.scale import PLAIN_SCALE, Curve

SOURCE_ORDER = ("user", "conversation", "skill", "system", "inferred")


@dataclass(frozen=True, eq=False)
class MemoryRecord:
    """One side of a possible conflict.

    key: what the caller calls it, "candidate" for one that is not stored yet. importance: in [0, 1]. timestamp:
    aware, when it happened, else when it was saved. agent, personality, project: where it holds, unless it is
    global. type: what it is. origin: whom it comes from, which no content says. known_share: how much of the content
    the embedder knows, in [0, 1]. embedding: unit vector, float32; None where there is none. curve: what cosines of
    such vectors mean.
    """

    key: str
    content: str
    timestamp: datetime
    importance: float = 0.5
    source: str = "user"
    keywords: tuple[str, ...] = ()
    user_id: str = ""
    household_id: str | None = None
    persona_id: str | None = None
    agent: str = ""
    personality: str = ""
    project: str = ""
    type: str = ""
    is_global: bool = False
    origin: WriteOrigin = WriteOrigin.APP
    known_share: float = 1.0
    embedding: npt.NDArray[np.float32] | None = field(default=None, repr=False)
    curve: Curve = field(default=PLAIN_SCALE.statements, repr=False)


def source_rank(source: str) -> int:
    """Return the rank of a source: 0 for the most trusted, 4 for the least. Case does not matter.

    An unknown source ranks last, beside `inferred`.
    """
    known = source.strip().casefold()
    return SOURCE_ORDER.index(known) if known in SOURCE_ORDER else len(SOURCE_ORDER) - 1


def higher_source(first: str, second: str) -> str:
    """Return the more trusted source; of two of the same rank the alphabetically first, whatever their order."""
    return min(first, second, key=lambda source: (source_rank(source), source))
