"""What the cosines of an embedding space are compared with (`retrieval.domain.relevance.Background`).

It is measured with sentences of our own at the first search of a space, and kept in a small file beside the snapshots,
so that every process has the same. The file is a hint: without it the space is measured again.
"""

import json
import logging
import math
from pathlib import Path

from django.conf import settings

from apps.core.domain.errors import UnavailableError
from apps.core.files import exchange_file
from apps.llm.domain.embedder import TextRole
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import can_read
from apps.retrieval.domain.relevance import MIN_SPREAD, Background, measure_background
from apps.semantic.domain.background import BACKGROUND_VERSION, QUESTIONS, STATEMENTS
from apps.semantic.store.embedding_space import embed

logger = logging.getLogger(__name__)
_NAME = "backgrounds.json"
_known: dict[tuple[Path, int, str], Background] = {}


def space_background(space: EmbeddingSpace) -> Background | None:
    """Return the background of the active space; None while the model does not answer."""
    path = backgrounds_path()
    key = path, space.pk, name_of(space)
    found = _known.get(key)
    if found is None:
        found = read_backgrounds(path).get(name_of(space))
        if found is None:
            try:
                found = measure_space()
            except UnavailableError:
                return None
            write_background(space, found)
        _known[key] = found
    return found


def measure_space() -> Background:
    """Measure with the sentences that the model can read. Raises UnavailableError when it does not answer."""
    questions, statements = (
        [text for text in texts if can_read(text)] or list(texts) for texts in (QUESTIONS, STATEMENTS)
    )
    return measure_background(embed(questions, TextRole.QUERY), embed(statements))


def backgrounds_path() -> Path:
    """Return the path of the file."""
    path: Path = settings.SEMANTIC_INDEX_DIR / _NAME
    return path


def name_of(space: EmbeddingSpace) -> str:
    """Return by what the file names a space."""
    return f"{space.space_id} {BACKGROUND_VERSION}"


def read_backgrounds(path: Path) -> dict[str, Background]:
    """Return what is in the file; nothing where it cannot be used."""
    try:
        found = {
            name: Background(float(mean), float(spread))
            for name, (mean, spread) in json.loads(path.read_text()).items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        logger.warning("the backgrounds of embedding spaces cannot be used (%s): they are measured", error)
        return {}
    return {
        name: one
        for name, one in found.items()
        if -1 <= one.mean <= 1 and math.isfinite(one.spread) and MIN_SPREAD <= one.spread <= 1
    }


def write_background(space: EmbeddingSpace, background: Background) -> None:
    """Keep the background of a space for other processes, as far as the disk can be written to."""
    path = backgrounds_path()
    try:
        exchange_file(path, json.dumps(read_backgrounds(path) | {name_of(space): background}, indent=2) + "\n")
    except OSError as error:
        logger.warning("the background of an embedding space cannot be kept: %s", type(error).__name__)
    _known[path, space.pk, name_of(space)] = background
