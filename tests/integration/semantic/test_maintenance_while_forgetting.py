"""Vectors and keyword documents are made for others while a user is being forgotten."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from apps.core.db.user_locks import UserLockedError, lock_user, unlock_user, work_for_unlocked
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.llm.domain.embedder import TextRole
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.memories.reembed import outdated_words, reembed, reembed_needed, refresh_words
from apps.semantic.models import Memory, MemoryEmbedding
from tests.integration.semantic.test_maintenance import SmallEmbedder

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two(remember: Callable[..., Memory]) -> None:
    remember("tea")
    remember("milk", scope=Scope("ben"))


class LockingEmbedder(SmallEmbedder):
    """Has ben locked while it embeds, as a request to forget may do at any time."""

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> npt.NDArray[np.float32]:
        lock_user("ben", utcnow(SYSTEM_CLOCK))
        return super().embed(texts, role)


@pytest.mark.parametrize("embedder", [SmallEmbedder(), LockingEmbedder()], ids=["before", "during"])
def test_reembedding_serves_the_others(embedder: SmallEmbedder) -> None:
    if not isinstance(embedder, LockingEmbedder):
        lock_user("ben", utcnow(SYSTEM_CLOCK))
    assert reembed(embedder=embedder) == 1
    assert EmbeddingSpace.objects.get(is_active=True).model == "small"
    made = MemoryEmbedding.objects.filter(space__model="small")
    assert [row.memory.content for row in made] == ["tea"]
    unlock_user("ben")
    assert reembed_needed(embedder) == 1
    assert reembed(embedder=SmallEmbedder()) == 1
    assert MemoryEmbedding.objects.count() == 2


def test_keyword_documents_of_the_others_are_refreshed() -> None:
    Memory.objects.update(lexemes_version=0)
    lock_user("ben", utcnow(SYSTEM_CLOCK))
    assert refresh_words() == 1
    assert not outdated_words().exists()
    unlock_user("ben")
    assert refresh_words() == 1


def test_work_is_done_again_without_who_was_locked_just_before() -> None:
    def work(users: Sequence[str]) -> int:
        if "ben" in users:
            lock_user("ben", utcnow(SYSTEM_CLOCK))
            raise UserLockedError
        return len(users)

    assert work_for_unlocked(["ana", "ben", "cem"], str, work) == 2
    assert work_for_unlocked(["ben"], str, work) == 0
