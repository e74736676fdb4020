"""People who look at their own pages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.test import Client

from apps.accounts.services import person_create
from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import index_cache
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from tests.emptying import rolled_back

ANA, BEN = "ana", "ben"


def browser_of(person: str) -> Client:
    """Return a browser in which a new account of a person is signed in."""
    client = Client()
    client.force_login(person_create(username=f"{person}-signs-in", person_id=person))
    return client


def remember(person: str, content: str, **fields: str) -> Memory:
    """Save a memory of a person, as an assistant does."""
    draft = MemoryDraft(content, scope=Scope(person), **fields)  # type: ignore[arg-type]
    return memory_save(access=system_access("key:kitchen"), draft=draft).memory


@contextmanager
def taken_back(case: object) -> Iterator[None]:
    """Take back what is written meanwhile, so that cases of a loop are apart, and say in which of them it failed."""
    try:
        with rolled_back():
            yield
    except BaseException as error:
        error.add_note(f"in the case: {case}")
        raise
    index_cache().clear()


def unmarked(page: str) -> str:
    """Return a page without the marks of words that differ."""
    return re.sub("</?(ins|del|mark)>", "", page)
