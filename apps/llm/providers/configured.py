"""The chat providers of the settings, created at their first use."""

import threading
from enum import StrEnum
from typing import Any

from django.conf import settings

from apps.core.per_process import PerProcess
from apps.llm.domain.chat import ChatProvider, Timeouts
from apps.llm.providers.endpoint import Endpoint


class ModelRole(StrEnum):
    """The role of a configured model."""

    PRIMARY = "primary"
    FALLBACK = "fallback"


def chat_providers() -> tuple[ChatProvider, ...]:
    """Return the primary provider and its fallback, in this order; nothing when no chat model is configured.

    The same objects for the whole life of a process.
    """
    return _providers.get()


def configured_roles() -> list[tuple[ModelRole, ChatProvider]]:
    """Return each configured provider with its role, the primary one first."""
    return list(zip(ModelRole, chat_providers(), strict=False))


def warm_up_chat_providers() -> None:
    """Create the providers in the background, so that the first call need not wait for the import of the SDKs."""
    if settings.MEMORYHUB.chat.primary is not None:
        threading.Thread(target=chat_providers, name="chat-warm-up", daemon=True).start()


def reset_chat_providers() -> None:
    """Forget the providers, so that the next use reads the settings again (for tests)."""
    _providers.forget()


def _build_configured() -> tuple[ChatProvider, ...]:
    chat = settings.MEMORYHUB.chat
    return tuple(_build_provider(config) for config in (chat.primary, chat.fallback) if config is not None)


def _build_provider(config: Any) -> ChatProvider:
    endpoint = Endpoint(
        service=config.provider,
        model=config.model,
        base_url=config.base_url,
        api_key=config.api_key,
        timeouts=Timeouts(config.connect_timeout_seconds, config.idle_timeout_seconds, config.timeout_seconds),
        settings=config.settings,
    )
    # The SDKs take most of a second to import.
    match endpoint.service:
        case "openai":
            from apps.llm.providers.openai_chat import OpenAIChat

            return OpenAIChat(endpoint)
        case "anthropic":
            from apps.llm.providers.anthropic_chat import AnthropicChat

            return AnthropicChat(endpoint)
        case unknown:
            raise ValueError(f"{endpoint.settings}_PROVIDER is {unknown!r}; it must be none, openai or anthropic.")


_providers = PerProcess(_build_configured)
