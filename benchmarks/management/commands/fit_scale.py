"""Fit what the cosines of an embedder mean to those of MiniLM, by which thresholds were measured."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.llm.domain.embedder import Embedder, EmbeddingError, TextRole, Vectors
from apps.llm.embedding.embedder import get_embedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.source import Precision
from apps.llm.embedding.scales import write_scale
from apps.retrieval.domain.vectors.scale import Curve, Scale
from benchmarks.labelled_pairs import LabelledFileError
from benchmarks.stories import Story, parse_stories

STORIES = Path(__file__).parents[3] / "training" / "data" / "stories"
# Values of the scale at which it is measured; between them a curve is straight.
VALUES = tuple(round(0.1 * number, 1) for number in range(10))
DIGITS = 3
Cosines = npt.NDArray[np.float64]


class Command(BaseCommand):
    help = (
        "Fit the curves from the cosines of the configured embedder to the scale of thresholds, the cosines of MiniLM:"
        " of English stories as many pairs are to be nearer by the one as by the other. Nothing is stored but FILE."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", metavar="N", type=int, default=5, help="Every Nth story. Default: %(default)s.")
        parser.add_argument("--write", metavar="FILE", type=Path, help="Write the scale to this file.")

    def handle(self, *args: Any, **options: Any) -> None:
        reference = MiniLMEmbedder(Path(settings.MODELS_DIR), Precision.INT8, settings.MEMORYHUB.embedding.threads)
        embedder = get_embedder()
        try:
            stories = read_stories()[:: options["every"]]
            found, wanted = (measure(one, stories) for one in (embedder, reference))
            scale = Scale(*(fit(mine, theirs) for mine, theirs in zip(found, wanted, strict=True)))
            if options["write"]:
                write_scale(options["write"], embedder.space.model, scale)
        except (EmbeddingError, LabelledFileError, OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{embedder.space.model}, by {len(stories)} stories")
        for name, curve in (("statements", scale.statements), ("questions", scale.questions)):
            self.stdout.write(f"  {name}: " + ", ".join(f"{x:g} is {y:g}" for x, y in curve.points[1:-1]))


def read_stories() -> list[Story]:
    """Return the English stories of the training data that have a question. Raises LabelledFileError, OSError."""
    files = sorted(STORIES.glob("*.jsonl"))
    stories = [story for path in files for story in parse_stories(path.read_text(encoding="utf-8"))]
    return [story for story in stories if story.language == "en" and story.query]


def measure(embedder: Embedder, stories: list[Story]) -> tuple[Cosines, Cosines]:
    """Return the cosines of the first and the last statement of each story, and of its question with the last.

    As many follow of the first with the last of the next story, which is about something else. Raises EmbeddingError.
    """
    first = embedder.embed([story.statements[0] for story in stories])
    last = embedder.embed([story.statements[-1] for story in stories])
    questions = embedder.embed([story.query or "" for story in stories], TextRole.QUERY)
    found = [np.concatenate([cosines(one, last), cosines(one, np.roll(last, 1, 0))]) for one in (first, questions)]
    return found[0], found[1]


def cosines(one: Vectors, other: Vectors) -> Cosines:
    """Return the cosine of each two unit vectors."""
    return np.vecdot(one.astype(np.float64), other.astype(np.float64))


def fit(found: Cosines, wanted: Cosines) -> Curve:
    """Return the curve by which as many of `found` reach each of VALUES as of `wanted`.

    Raises ValueError where that is no rising line.
    """
    points = [(round(float(np.quantile(found, (wanted < value).mean())), DIGITS), value) for value in VALUES]
    return Curve(((-1.0, -1.0), *points, (1.0, 1.0)))
