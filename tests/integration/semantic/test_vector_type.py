"""Saves leave nothing behind in the driver of the database."""

from collections.abc import Callable

import pytest
from psycopg._adapters_map import AdaptersMap

from apps.semantic.models import Memory, MemoryEmbedding

pytestmark = pytest.mark.django_db


def test_saves_make_no_classes_that_stay(remember: Callable[..., Memory]) -> None:
    remember("My sister moved to Porto.")
    before = len(AdaptersMap._optimised)
    for number in range(5):
        remember(f"The bus number {number} goes to the harbour.")
    assert len(AdaptersMap._optimised) == before
    assert MemoryEmbedding.objects.count() == 6
