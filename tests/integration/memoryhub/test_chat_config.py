import os

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryhub.config.chat import ChatConfig
from memoryhub.config.hub import read_config

KEY = "sk-secret-0123456789"
OPENAI = {
    "MEMORYHUB_CHAT_PROVIDER": "openai",
    "MEMORYHUB_CHAT_MODEL": "some-model",
    "MEMORYHUB_CHAT_API_KEY": KEY,
}
FALLBACK = {
    "MEMORYHUB_CHAT_FALLBACK_PROVIDER": "anthropic",
    "MEMORYHUB_CHAT_FALLBACK_MODEL": "another-model",
    "MEMORYHUB_CHAT_FALLBACK_API_KEY": "sk-other-9876543210",
}


@pytest.fixture
def configure(monkeypatch):
    for name in [name for name in os.environ if name.startswith("MEMORYHUB_") or name == "DATABASE_URL"]:
        monkeypatch.delenv(name)

    def read(variables: dict[str, str]) -> ChatConfig:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return read_config().chat

    return read


def test_without_any_variable_there_is_no_chat_model(configure):
    assert configure({}) == ChatConfig(None, None)


def test_none_switches_a_described_model_off(configure):
    assert configure(OPENAI | {"MEMORYHUB_CHAT_PROVIDER": "none"}).primary is None


def test_model_has_defaults_that_are_documented(configure):
    primary = configure(OPENAI).primary
    assert (primary.provider, primary.model, primary.api_key, primary.base_url) == ("openai", "some-model", KEY, None)
    timeouts = (primary.connect_timeout_seconds, primary.idle_timeout_seconds, primary.timeout_seconds)
    assert timeouts == (5.0, 60.0, 180.0)


def test_call_has_bounds_that_are_documented(configure):
    config = configure(OPENAI)
    assert (config.deadline_seconds, config.max_tries, config.corrections) == (600.0, 3, 1)
    bounds = {"DEADLINE_SECONDS": "20", "MAX_TRIES": "2", "CORRECTIONS": "0"}
    config = configure({f"MEMORYHUB_CHAT_{name}": value for name, value in bounds.items()})
    assert (config.deadline_seconds, config.max_tries, config.corrections) == (20.0, 2, 0)


def test_fallback_is_described_by_variables_of_its_own(configure):
    timeout = {"MEMORYHUB_CHAT_FALLBACK_TIMEOUT_SECONDS": "30", "MEMORYHUB_CHAT_IDLE_TIMEOUT_SECONDS": "7"}
    config = configure(OPENAI | FALLBACK | timeout)
    assert (config.fallback.provider, config.fallback.model) == ("anthropic", "another-model")
    assert (config.fallback.timeout_seconds, config.primary.timeout_seconds) == (30.0, 180.0)
    assert (config.fallback.idle_timeout_seconds, config.primary.idle_timeout_seconds) == (60.0, 7.0)
    assert (config.primary.settings, config.fallback.settings) == ("MEMORYHUB_CHAT", "MEMORYHUB_CHAT_FALLBACK")


def test_claude_is_another_name_of_anthropic(configure):
    assert configure(OPENAI | {"MEMORYHUB_CHAT_PROVIDER": "claude"}).primary.provider == "anthropic"


def test_a_server_with_an_address_needs_no_key(configure):
    address = {"MEMORYHUB_CHAT_BASE_URL": "http://127.0.0.1:11434/v1/", "MEMORYHUB_CHAT_API_KEY": ""}
    primary = configure(OPENAI | address).primary
    assert (primary.base_url, primary.api_key) == ("http://127.0.0.1:11434/v1", None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMORYHUB_CHAT_PROVIDER", "gpt"),
        ("MEMORYHUB_CHAT_PROVIDER", "OpenAI"),
        ("MEMORYHUB_CHAT_MODEL", ""),
        ("MEMORYHUB_CHAT_MODEL", "m" * 201),
        ("MEMORYHUB_CHAT_API_KEY", ""),
        ("MEMORYHUB_CHAT_API_KEY", f"{KEY}\n"),
        ("MEMORYHUB_CHAT_API_KEY", f"{KEY} {KEY}"),
        ("MEMORYHUB_CHAT_API_KEY", f"{KEY}ü"),
        ("MEMORYHUB_CHAT_BASE_URL", "127.0.0.1:11434"),
        ("MEMORYHUB_CHAT_BASE_URL", "file:///v1"),
        ("MEMORYHUB_CHAT_BASE_URL", "http:///v1"),
        ("MEMORYHUB_CHAT_BASE_URL", "http://127.0.0.1:port/v1"),
        ("MEMORYHUB_CHAT_BASE_URL", "http://127.0.0.1:99999/v1"),
        ("MEMORYHUB_CHAT_BASE_URL", "http://[::1/v1"),
        ("MEMORYHUB_CHAT_BASE_URL", "http://127.0.0.1/v1?key=x"),
        ("MEMORYHUB_CHAT_BASE_URL", f"http://{'h' * 81}/v1"),
        ("MEMORYHUB_CHAT_BASE_URL", f"http://me:{KEY}@127.0.0.1/v1"),
        ("MEMORYHUB_CHAT_CONNECT_TIMEOUT_SECONDS", "0"),
        ("MEMORYHUB_CHAT_IDLE_TIMEOUT_SECONDS", "soon"),
        ("MEMORYHUB_CHAT_TIMEOUT_SECONDS", "3601"),
        ("MEMORYHUB_CHAT_TIMEOUT_SECONDS", "nan"),
        ("MEMORYHUB_CHAT_TIMEOUT_SECONDS", "inf"),
        ("MEMORYHUB_CHAT_DEADLINE_SECONDS", "0"),
        ("MEMORYHUB_CHAT_DEADLINE_SECONDS", "nan"),
        ("MEMORYHUB_CHAT_MAX_TRIES", "0"),
        ("MEMORYHUB_CHAT_CORRECTIONS", "-1"),
        ("MEMORYHUB_CHAT_FALLBACK_PROVIDER", "both"),
        ("MEMORYHUB_CHAT_FALLBACK_MODEL", ""),
        ("MEMORYHUB_CHAT_FALLBACK_API_KEY", ""),
        ("MEMORYHUB_CHAT_FALLBACK_BASE_URL", "here"),
        ("MEMORYHUB_CHAT_FALLBACK_TIMEOUT_SECONDS", "-1"),
    ],
)
def test_value_that_cannot_be_used_is_refused_by_name_of_its_variable(configure, name, value):
    with pytest.raises(ImproperlyConfigured, match=name) as caught:
        configure(OPENAI | FALLBACK | {name: value})
    assert KEY not in str(caught.value)


def test_fallback_needs_something_to_stand_in_for(configure):
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_CHAT_FALLBACK_PROVIDER needs a MEMORYHUB_CHAT_PROVIDER"):
        configure(FALLBACK)


def test_a_model_cannot_stand_in_for_itself(configure):
    same = {name.replace("_CHAT_", "_CHAT_FALLBACK_"): value for name, value in OPENAI.items()}
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_CHAT_FALLBACK_MODEL"):
        configure(OPENAI | same)
    assert configure({"MEMORYHUB_CHAT_FALLBACK_MODEL": "another-model"}).fallback.model == "another-model"


def test_no_secret_is_shown_with_the_settings(configure, monkeypatch):
    secret = {
        "MEMORYHUB_ADMIN_PASSWORD": "password-of-the-admin",
        "MEMORYHUB_API_KEY": "operator-" + "k" * 32,
        "MEMORYHUB_SECRET_KEY": "signing-" + "k" * 50,
        "MEMORYHUB_METRICS_TOKEN": "token-of-metrics",
        "MEMORYHUB_EMBEDDING_API_KEY": "sk-of-embeddings",
        "DATABASE_URL": "postgresql://me:word-of-database@db.example.org/hub",
        "MEMORYHUB_DIRECT_DATABASE_URL": "postgresql://me:word-of-database@db.example.org:6432/hub",
    }
    configure(OPENAI | FALLBACK | secret)
    config = read_config()
    shown = repr(config) + str(config)
    secrets = [*secret.values(), OPENAI["MEMORYHUB_CHAT_API_KEY"], FALLBACK["MEMORYHUB_CHAT_FALLBACK_API_KEY"]]
    assert [value for value in secrets if value in shown] == []
    assert "word-of-database" not in shown
    assert "some-model" in shown
