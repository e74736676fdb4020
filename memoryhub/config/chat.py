"""The environment variables of the chat models, a part of `memoryhub.config.hub`."""

import math
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environs import Env, validate

from apps.llm.domain import chat
from apps.llm.domain.retry import MAX_ATTEMPTS

# Names of providers -> wire format. Spec 002 calls Anthropic's models `claude`.
CHAT_PROVIDERS = {"none": None, "openai": "openai", "anthropic": "anthropic", "claude": "anthropic"}
# The name under which a provider is recorded includes its host and must fit its column.
MAX_HOST_CHARS = 80


@dataclass(frozen=True)
class ChatVariables:
    """The names of the variables of one chat model, in full, so that a search finds them."""

    provider: str
    model: str
    base_url: str
    api_key: str
    connect_timeout: str
    idle_timeout: str
    timeout: str


PRIMARY = ChatVariables(
    provider="MEMORYHUB_CHAT_PROVIDER",
    model="MEMORYHUB_CHAT_MODEL",
    base_url="MEMORYHUB_CHAT_BASE_URL",
    api_key="MEMORYHUB_CHAT_API_KEY",
    connect_timeout="MEMORYHUB_CHAT_CONNECT_TIMEOUT_SECONDS",
    idle_timeout="MEMORYHUB_CHAT_IDLE_TIMEOUT_SECONDS",
    timeout="MEMORYHUB_CHAT_TIMEOUT_SECONDS",
)
FALLBACK = ChatVariables(
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
    """One chat model and how it is reached. provider: `openai` or `anthropic`, whose wire format is used.

    settings: the prefix of its variables.
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
    """The chat model, and the one that is called when it fails. None of them is needed to run the hub.

    deadline_seconds: of a call with all its tries and pauses. max_tries: of one model in one call. corrections: how
    often a model is called again with what was wrong with its answer.
    """

    primary: ChatModelConfig | None = None
    fallback: ChatModelConfig | None = None
    deadline_seconds: float = 600.0
    max_tries: int = MAX_ATTEMPTS
    corrections: int = 1


def read_chat_config(env: Env) -> ChatConfig:
    """Read the chat models. Raises ImproperlyConfigured or EnvError with the name of a variable."""
    primary, fallback = read_model(env, PRIMARY), read_model(env, FALLBACK)
    if fallback and not primary:
        raise ImproperlyConfigured(f"{FALLBACK.provider} needs a {PRIMARY.provider} whose model it replaces.")
    called = [(one.provider, one.model, one.base_url) for one in (primary, fallback) if one]
    if len(called) > len(set(called)):
        raise ImproperlyConfigured(f"{FALLBACK.model} is the same model as {PRIMARY.model}.")
    return ChatConfig(
        primary,
        fallback,
        deadline_seconds=read_seconds(
            env, "MEMORYHUB_CHAT_DEADLINE_SECONDS", ChatConfig.deadline_seconds, lowest=1, highest=86_400
        ),
        max_tries=env.int("MEMORYHUB_CHAT_MAX_TRIES", ChatConfig.max_tries, validate=validate.Range(min=1, max=10)),
        corrections=env.int(
            "MEMORYHUB_CHAT_CORRECTIONS", ChatConfig.corrections, validate=validate.Range(min=0, max=5)
        ),
    )


def read_model(env: Env, names: ChatVariables) -> ChatModelConfig | None:
    """Read one model; None when no provider is set."""
    provider_name = env.str(names.provider, "none", validate=validate.OneOf(list(CHAT_PROVIDERS)))
    provider = CHAT_PROVIDERS[provider_name]
    if provider is None:
        return None
    model = env.str(names.model, "", validate=validate.Length(max=200)).strip()
    base_url = read_base_url(env, names.base_url)
    api_key = read_server_key(env, names.api_key)
    if not model:
        raise ImproperlyConfigured(f"{names.provider}={provider_name} needs {names.model}, the name of a model.")
    if not (base_url or api_key):
        raise ImproperlyConfigured(
            f"{names.provider}={provider_name} needs {names.api_key}, "
            f"or {names.base_url} of a server that requires no key."
        )
    return ChatModelConfig(
        provider=provider,
        model=model,
        base_url=base_url,
        api_key=api_key,
        connect_timeout_seconds=read_seconds(env, names.connect_timeout, chat.CONNECT_TIMEOUT_SECONDS),
        idle_timeout_seconds=read_seconds(env, names.idle_timeout, chat.IDLE_TIMEOUT_SECONDS),
        timeout_seconds=read_seconds(env, names.timeout, chat.TOTAL_TIMEOUT_SECONDS),
        settings=names.provider.removesuffix("_PROVIDER"),
    )


def read_seconds(env: Env, name: str, default: float, lowest: float = 0.1, highest: float = 3_600) -> float:
    """Read a duration; NaN passes the check of the range, so it is refused here."""
    seconds = env.float(name, default, validate=validate.Range(min=lowest, max=highest))
    if math.isnan(seconds):
        raise ImproperlyConfigured(f"{name} must be a number.")
    return seconds


def read_server_key(env: Env, name: str) -> str | None:
    """Read a key, which must fit into a header. Raises ImproperlyConfigured, which does not repeat it."""
    key: str | None = env.str(name, "") or None
    if key is not None and not all("!" <= c <= "~" for c in key):
        raise ImproperlyConfigured(f"{name} must be printable ASCII characters without spaces.")
    return key


def read_base_url(env: Env, name: str, like: str = "http://127.0.0.1:11434/v1") -> str | None:
    """Read the address of a server. Raises ImproperlyConfigured for one that cannot be used or shown."""
    url = env.str(name, "") or None
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or not url.isascii() or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"{name} must look like {like}.")
    if len(parts.netloc) > MAX_HOST_CHARS:
        raise ImproperlyConfigured(f"{name} must name a host of at most {MAX_HOST_CHARS} characters.")
    if "@" in parts.netloc:
        raise ImproperlyConfigured(f"{name} must not contain a name or a password: the address is shown.")
    return url.rstrip("/")
