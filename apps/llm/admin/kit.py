"""What the admin pages about models have in common: who may do what."""

from typing import Any

from django.http import HttpRequest

from apps.llm.status import ConfiguredModel

# What to set when there is no chat model, in the order in which people need it.
SETTINGS = (
    ("MEMORYHUB_CHAT_PROVIDER", "openai or anthropic: the wire format; most local servers speak the first one"),
    ("MEMORYHUB_CHAT_MODEL", "the name of the model, as the provider spells it"),
    ("MEMORYHUB_CHAT_API_KEY", "the key, unless a server of your own asks for none"),
    ("MEMORYHUB_CHAT_BASE_URL", "only for another server, such as http://127.0.0.1:11434/v1"),
    ("MEMORYHUB_CHAT_DAILY_BUDGET_USD", "what may be spent in a day of UTC; 0 is no limit"),
)


def may(request: HttpRequest, permission: str) -> bool:
    """Whether the person has a permission of this app, such as `change_breaker`."""
    return bool(request.user.has_perm(f"llm.{permission}"))


def models_context(configured: list[ConfiguredModel]) -> dict[str, Any]:
    """What `llm/not_configured.html` shows where there is no chat model."""
    return {"is_configured": bool(configured), "settings": SETTINGS}
