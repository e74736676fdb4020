"""The environment variables of the chat models, a part of `memoryhub.config.hub`."""

import math
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environs import Env, validate

from apps.llm.domain import chat
from apps.llm.domain.retry import MAX_ATTEMPTS

CHAT_PROVIDERS = {"none": None, "openai": "openai", "anthropic": "anthropic", "claude": "anthropic"}
"""What may be named, and what is meant: spec 002 calls Anthropic's models `claude`."""

MAX_HOST_CHARS = 80
"""The name by which a provider is recorded holds its host and must fit its column."""


@dataclass(frozen=True)
class ChatVariables:
    """The names of the variables that describe one chat model."""

    provider: str
    model: str
    base_url: str
    api_key: str
    connect_timeout: str
    idle_timeout: str
    timeout: str


PRIMARY_CHAT = ChatVariables(
    provider="MEMORYHUB_CHAT_PROVIDER",
    model="MEMORYHUB_CHAT_MODEL",
    base_url="MEMORYHUB_CHAT_BASE_URL",
    api_key="MEMORYHUB_CHAT_API_KEY",
    connect_timeout="MEMORYHUB_CHAT_CONNECT_TIMEOUT_SECONDS",
    idle_timeout="MEMORYHUB_CHAT_IDLE_TIMEOUT_SECONDS",
    timeout="MEMORYHUB_CHAT_TIMEOUT_SECONDS",
)
FALLBACK_CHAT = ChatVariables(
    provider="MEMORYHUB_CHAT_FALLBACK_PROVIDER",
    model="MEMORYHUB_CHAT_FALLBACK_MODEL",
    base_url="MEMORYHUB_CHAT_FALLBACK_BASE_URL",
    api_key="MEMORYHUB_CHAT_FALLBACK_API_KEY",
    connect_timeout="MEMORYHUB_CHAT_FALLBACK_CONNECT_TIMEOUT_SECONDS",
    idle_timeout="MEMORYHUB_CHAT_FALLBACK_IDLE_TIMEOUT_SECONDS",
    timeout="MEMORYHUB_CHAT_FALLBACK_TIMEOUT_SECONDS",
)


@dataclass(frozen=True)
class ChatModelConfig:
    """One chat model and how it is reached. provider: `openai` or `anthropic`, whose wire format is spoken.

    settings: what the names of its variables begin with.
    """

    provider: str
    model: str
    base_url: str | None
    api_key: str | None = field(repr=False)
    connect_timeout_seconds: float
    idle_timeout_seconds: float
    timeout_seconds: float
    settings: str


@dataclass(frozen=True)
class ChatConfig:
    """Which chat model is asked, and which one when it fails. None of them is needed to run the hub.

    deadline_seconds: of a call with all its tries and pauses. max_tries: of one model in one call. corrections: how
    often a model is told what is wrong with its answer, and asked again.
    """

    primary: ChatModelConfig | None = None
    fallback: ChatModelConfig | None = None
    deadline_seconds: float = 600.0
    max_tries: int = MAX_ATTEMPTS
    corrections: int = 1


def read_chat_config(env: Env) -> ChatConfig:
    """The chat models of the environment. Raises ImproperlyConfigured or EnvError with the name of a variable."""
    primary, fallback = _model(env, PRIMARY_CHAT), _model(env, FALLBACK_CHAT)
    if fallback and not primary:
        raise ImproperlyConfigured(f"{FALLBACK_CHAT.provider} needs a {PRIMARY_CHAT.provider} to stand in for.")
    if primary and fallback and _identity(primary) == _identity(fallback):
        raise ImproperlyConfigured(f"{FALLBACK_CHAT.model} names the model that it is to stand in for.")
    return ChatConfig(
        primary,
        fallback,
        deadline_seconds=_seconds(
            env, "MEMORYHUB_CHAT_DEADLINE_SECONDS", ChatConfig.deadline_seconds, lowest=1, highest=86_400
        ),
        max_tries=env.int("MEMORYHUB_CHAT_MAX_TRIES", ChatConfig.max_tries, validate=validate.Range(min=1, max=10)),
        corrections=env.int(
            "MEMORYHUB_CHAT_CORRECTIONS", ChatConfig.corrections, validate=validate.Range(min=0, max=5)
        ),
    )


def _identity(config: ChatModelConfig) -> tuple[str, str, str | None]:
    return config.provider, config.model, config.base_url


def _model(env: Env, variables: ChatVariables) -> ChatModelConfig | None:
    named = env.str(variables.provider, "none", validate=validate.OneOf(list(CHAT_PROVIDERS)))
    provider = CHAT_PROVIDERS[named]
    if provider is None:
        return None
    model = env.str(variables.model, "", validate=validate.Length(max=200)).strip()
    base_url, api_key = _base_url(env, variables.base_url), _sendable_key(env, variables.api_key)
    if not model:
        raise ImproperlyConfigured(f"{variables.provider}={named} needs {variables.model}, the name of a model.")
    if not (base_url or api_key):
        raise ImproperlyConfigured(
            f"{variables.provider}={named} needs {variables.api_key}, "
            f"or {variables.base_url} of a server that asks for none."
        )
    return ChatModelConfig(
        provider=provider,
        model=model,
        base_url=base_url,
        api_key=api_key,
        connect_timeout_seconds=_seconds(env, variables.connect_timeout, chat.CONNECT_TIMEOUT_SECONDS),
        idle_timeout_seconds=_seconds(env, variables.idle_timeout, chat.IDLE_TIMEOUT_SECONDS),
        timeout_seconds=_seconds(env, variables.timeout, chat.TOTAL_TIMEOUT_SECONDS),
        settings=variables.provider.removesuffix("_PROVIDER"),
    )


def _seconds(env: Env, name: str, default: float, lowest: float = 0.1, highest: float = 3_600) -> float:
    seconds = env.float(name, default, validate=validate.Range(min=lowest, max=highest))
    if math.isnan(seconds):
        raise ImproperlyConfigured(f"{name} must be a number.")
    return seconds


def _base_url(env: Env, name: str) -> str | None:
    url = env.str(name, "") or None
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not url.isascii() or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"{name} must look like http://127.0.0.1:11434/v1.")
    if len(parts.netloc) > MAX_HOST_CHARS:
        raise ImproperlyConfigured(f"{name} must name a host of at most {MAX_HOST_CHARS} characters.")
    if "@" in parts.netloc:
        raise ImproperlyConfigured(f"{name} must not hold a name or a password: the address is shown.")
    return url.rstrip("/")


def _sendable_key(env: Env, name: str) -> str | None:
    """A key that can stand in a header. The message does not repeat it."""
    key = env.str(name, "") or None
    if key is not None and not all("!" <= c <= "~" for c in key):
        raise ImproperlyConfigured(f"{name} must be printable ASCII characters without spaces.")
    return key
