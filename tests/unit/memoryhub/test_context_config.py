"""The shares of a context are read from the environment, or the start says what would be right."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from environs import Env

from apps.context.domain.context import ItemKind
from memoryhub.config.context import read_context


def test_shares_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYHUB_CONTEXT_SHARES", "memory:0.5, wish:0.5,fact:0,knowledge:0,note:0,event:0")
    assert list(read_context(Env()).shares)[:2] == [ItemKind.MEMORY, ItemKind.WISH]


def test_shares_that_cannot_be_used_name_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = "wish:0.1,fact:0.1,memory:0.4,knowledge:0.1,note:0.1"
    for wrong in ("", whole, f"{whole},event:0.5", f"{whole},event:x", f"{whole},event:nan", f"{whole},wish:0.1"):
        monkeypatch.setenv("MEMORYHUB_CONTEXT_SHARES", wrong)
        with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_CONTEXT_SHARES"):
            read_context(Env())
