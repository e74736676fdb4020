"""What the cosines of the embedding spaces mean: a file for each model but the one that thresholds were measured by."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from apps.llm.domain.embedder import EmbeddingSpaceId
from apps.retrieval.domain.vectors.scale import PLAIN_SCALE, Curve, Scale

FOLDER = Path(__file__).parent / "scales"


def scale_of(space: EmbeddingSpaceId) -> Scale:
    """Return the scale of a space; the plain one where no file has its model."""
    return read_scales().get(space.model, PLAIN_SCALE)


@cache
def read_scales() -> Mapping[str, Scale]:
    """Return the scales that were measured, by model. Raises ValueError for a file that is none."""
    return dict(map(read_scale, sorted(FOLDER.glob("*.json"))))


def read_scale(path: Path) -> tuple[str, Scale]:
    """Return the model that a file names, and its scale. Raises ValueError, KeyError, OSError."""
    said = json.loads(path.read_text(encoding="utf-8"))
    curves = {
        name: Curve(tuple((float(cosine), float(value)) for cosine, value in said[name]))
        for name in ("statements", "questions")
    }
    return said["model"], Scale(**curves)


def write_scale(path: Path, model: str, scale: Scale) -> None:
    """Write a file that `read_scale` reads. Raises OSError."""
    curves = {"statements": scale.statements, "questions": scale.questions}
    lines = [f'  "{name}": {json.dumps(curve.points)}' for name, curve in curves.items()]
    path.write_text(",\n".join((f'{{\n  "model": {json.dumps(model)}', *lines)) + "\n}\n", encoding="utf-8")
