"""Models in memory once for all processes that are forked from one."""

from contextlib import suppress
from pathlib import Path

from django.conf import settings

from apps.core.memory import give_back_memory
from apps.llm.domain.embedder import EmbeddingUnavailableError
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.llm.embedding.local import share_session
from apps.llm.embedding.minilm.preparation import model_path
from apps.llm.embedding.minilm.source import Precision
from apps.llm.pair_judge.judge import PairJudgeError, get_pair_judge


def models_preload() -> None:
    """Open the delivered models that the settings name, before this process is forked.

    Left to those that are forked is what cannot be opened, of which they tell, and what only the database knows: which
    embedder an older hub has.
    """
    if settings.MEMORYHUB.pair_judge:
        with suppress(PairJudgeError):
            get_pair_judge().load()
    if has_e5():
        with suppress(EmbeddingUnavailableError):
            share_session(E5Embedder(1).check())
    # What opening them took, a third of what they keep, would be taken for good by this process.
    give_back_memory()


def has_e5() -> bool:
    """Return whether the hub has e5, as far as it can be told without the database."""
    embedder, models = settings.MEMORYHUB.embedding.embedder, Path(settings.MODELS_DIR)
    has_other = any(model_path(models, precision).exists() for precision in Precision)
    return embedder == "e5" or (embedder == "auto" and not has_other)
