"""Permissions of a new key, as a word or as a list."""

import pytest

from apps.core.schemas.keys import KeyInput, highest_permission


@pytest.mark.parametrize(
    ("given", "level"),
    [("read", "read"), (["read"], "read"), (["read", "write"], "write"), ("operator", "operator"), (None, "write")],
)
def test_the_highest_level_counts(given: object, level: str) -> None:
    data = {"name": "x", "unbound": True} | ({} if given is None else {"permissions": given})
    serializer = KeyInput(data=data)
    assert serializer.is_valid(), serializer.errors
    assert highest_permission(serializer.validated_data.get("permissions")) == level


@pytest.mark.parametrize("given", ["all", "", [], ["read", "all"], [["read"]], 7, {"read": True}, None])
def test_anything_else_is_refused(given: object) -> None:
    serializer = KeyInput(data={"name": "x", "permissions": given})
    assert not serializer.is_valid()
    assert set(serializer.errors) == {"permissions"}
