"""Readiness of semantic memory."""


def embedding_ready() -> str | None:
    return None
