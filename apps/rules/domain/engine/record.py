"""A memory in the conflict engine."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from apps.core.domain.origin import WriteOrigin


@dataclass(frozen=True, eq=False)
class MemoryRecord:
    """One side of a possible conflict.

    key: what the caller calls it, "candidate" for one that is not stored yet. importance: in [0, 1]. timestamp:
    aware, when it happened, else when it was saved. agent, personality, project: where it holds, unless it is
    global. type: what it is. origin: whom it comes from, which no content says. known_share: how much of the content
    the embedder knows, in [0, 1]. embedding: unit vector, float32; None where there is none.
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
