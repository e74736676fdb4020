"""What tests of semantic memory build from."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from tests.api import Api, api_for
from tests.integration.semantic.undecided import chat_model as chat_model
from tests.integration.semantic.undecided import chat_server as chat_server


@pytest.fixture
def access() -> Access:
    """A caller who may do everything."""
    return system_access("test")


@pytest.fixture
def ana() -> Access:
    """A caller bound to the user ana."""
    return Access(Scope(user_id="ana"), Permission.WRITE, "key:ana")


@pytest.fixture
def remember(access: Access) -> Callable[..., Memory]:
    """Save a memory of the user ana, or of the scope given."""

    def save(content: str, **fields: Any) -> Memory:
        scope = fields.pop("scope", Scope(user_id="ana"))
        return memory_save(access=access, draft=MemoryDraft(content, scope=scope, **fields)).memory

    return save


@pytest.fixture
def api() -> Api:
    """An application whose key is bound to the user ana."""
    return api_for(Scope(user_id="ana"))
