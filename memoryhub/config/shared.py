"""Settings that all hosts of a hub must have in common, compared without being told (decision 0086)."""

from collections.abc import Mapping

from django.conf import settings
from django.utils.crypto import salted_hmac

KEY_NAME = "MEMORYHUB_SECRET_KEY"
_PURPOSE = "memoryhub.hosts"
# Fields of the configuration. What says how much one machine does, and how it is reached, is its own.
SHARED = (
    "default_user", "public_url", "current_first", "pair_judge", "max_content_chars", "notes_search",
    "event_retention_days", "conversation_days", "reinforceable_half_life_days", "contextual_half_life_days",
    "chat", "context", "rerank", "guards", "timeline", "mail", "audit_days", "given_days", "upload_mb",
    "app_registration", "app_sign_in_days", "metrics_token", "redis_url", "files_url",
)  # fmt: skip
# What those are called that are not MEMORYHUB_ and the name of their field; of several settings, how their names begin.
NAMES = {
    "redis_url": "REDIS_URL", "chat": "MEMORYHUB_CHAT_*", "context": "MEMORYHUB_CONTEXT_*",
    "rerank": "MEMORYHUB_RERANK_*", "guards": "MEMORYHUB_CHAT_*", "timeline": "MEMORYHUB_TIMELINE_*",
    "mail": "MEMORYHUB_SMTP_URL, MEMORYHUB_MAIL_FROM",
}  # fmt: skip


def settings_facts() -> dict[str, str]:
    """Return a digest of each setting by its name, which says nothing to who does not know the secret key."""
    config = settings.MEMORYHUB
    embedding = config.embedding
    values: dict[str, str] = {}
    for field in SHARED:
        name = NAMES.get(field, f"MEMORYHUB_{field.upper()}")
        values[name] = values.get(name, "") + repr(getattr(config, field))
    values["MEMORYHUB_EMBEDDER"] = repr((embedding.embedder, embedding.openai_model, embedding.dimension))
    return {name: salted_hmac(_PURPOSE, value).hexdigest()[:12] for name, value in {KEY_NAME: "", **values}.items()}


def differing(hosts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the names of the settings that hosts have different values of, in order.

    With different secret keys all digests differ, so that is the only one.
    """
    names = {name for values in hosts.values() for name in values}
    found = sorted(name for name in names if len({values[name] for values in hosts.values() if name in values}) > 1)
    return [KEY_NAME] if KEY_NAME in found else found
