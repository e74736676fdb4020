"""The locks of writers: one line for each user, and the embedding space held still."""

from collections.abc import Iterable, Mapping

from django.db import connection

from apps.llm.selectors import EmbeddingSpace
from apps.semantic.store.embedding_space import SpaceChangedError


def lock_shards(users: Iterable[str]) -> Mapping[str, int]:
    """Put this transaction in the line of writers of each user; gives the version that its changes carry."""
    with connection.cursor() as cursor:
        # Sorted, so that two transactions never wait for each other.
        cursor.execute(
            "INSERT INTO semantic_memoryshard (user_id, version, reset_version) "
            "SELECT u, 1, 0 FROM unnest(%s::text[]) AS u "
            "ON CONFLICT (user_id) DO UPDATE SET version = semantic_memoryshard.version + 1 "
            "RETURNING user_id, version",
            [sorted(set(users))],
        )
        return dict(cursor.fetchall())


def hold_space(space: EmbeddingSpace) -> None:
    """Keep the active space from changing until the transaction ends. Raises SpaceChangedError if it has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM llm_embeddingspace WHERE id = %s AND is_active FOR SHARE", [space.pk])
        if cursor.fetchone() is None:
            raise SpaceChangedError
