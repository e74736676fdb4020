import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryhub.config.hub import read_config


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("MEMORYHUB_") or name == "DATABASE_URL"]:
        monkeypatch.delenv(name)
    return monkeypatch


def test_without_any_variable_defaults_of_design_hold():
    config = read_config()
    assert config.data_dir == Path.cwd() / "data"
    assert (config.host, config.port) == ("127.0.0.1", 8000)
    assert config.embedding.embedder == "auto"
    assert config.database_settings() is None


def test_precision_of_minilm_chooses_minilm(environment):
    environment.setenv("MEMORYHUB_MINILM_PRECISION", "float32")
    assert read_config().embedding.embedder == "minilm"
    environment.setenv("MEMORYHUB_EMBEDDER", "e5")
    assert read_config().embedding.embedder == "e5"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMORYHUB_PORT", "http"),
        ("MEMORYHUB_PORT", "0"),
        ("MEMORYHUB_PORT", "70000"),
        ("MEMORYHUB_WEB_PROCESSES", "0"),
        ("MEMORYHUB_WEB_PROCESSES", "two"),
        ("MEMORYHUB_EMBEDDER", "word2vec"),
        ("MEMORYHUB_LOG_LEVEL", "LOUD"),
        ("MEMORYHUB_TIMELINE_SEGMENT_EVENTS", "0"),
        ("MEMORYHUB_TIMELINE_SEGMENT_EVENTS", "1000001"),
        ("MEMORYHUB_DEBUG", "perhaps"),
        ("MEMORYHUB_API_KEY", "short"),
        ("MEMORYHUB_API_KEY", "k" * 201),
        ("MEMORYHUB_API_KEY", "with a space" + "k" * 32),
        ("MEMORYHUB_API_KEY", "schlüssel" + "k" * 32),
        ("MEMORYHUB_PUBLIC_URL", "hub.example.org"),
        ("MEMORYHUB_PUBLIC_URL", "ftp://hub.example.org"),
        ("MEMORYHUB_EVENT_RETENTION_DAYS", "0"),
        ("MEMORYHUB_DEFAULT_USER", "u" * 201),
        ("MEMORYHUB_ADMIN_USERNAME", "a" * 151),
        ("MEMORYHUB_CHAT_DAILY_BUDGET_USD", "-0.01"),
        ("MEMORYHUB_CHAT_DAILY_BUDGET_USD", "NaN"),
        ("MEMORYHUB_CHAT_TOKENS_PER_MINUTE", "90000"),
        ("MEMORYHUB_CHAT_TOKENS_PER_MINUTE", "openai=-1"),
        ("MEMORYHUB_CHAT_BREAKER_ERROR_THRESHOLD", "1.5"),
        ("MEMORYHUB_CHAT_BREAKER_PROBES", "0"),
        ("MEMORYHUB_CHAT_RESERVATION_SECONDS", "59"),
    ],
)
def test_value_that_cannot_be_used_is_refused_by_name_of_its_variable(environment, name, value):
    environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        read_config()


@pytest.mark.parametrize(
    ("url", "port", "is_ssl", "is_starttls"),
    [
        ("smtps://ana%40hub:s%2Fcret@mail.example.org", 465, True, False),
        ("smtp://ana%40hub:s%2Fcret@mail.example.org:2525", 2525, False, True),
        ("smtp://ana%40hub:s%2Fcret@localhost", 25, False, False),
    ],
)
def test_a_mail_server_is_read(environment, url, port, is_ssl, is_starttls):
    environment.setenv("MEMORYHUB_SMTP_URL", url)
    environment.setenv("MEMORYHUB_MAIL_FROM", "hub@example.org")
    mail = read_config().mail
    assert (mail.port, mail.is_ssl, mail.is_starttls) == (port, is_ssl, is_starttls)
    assert (mail.username, mail.password) == ("ana@hub", "s/cret")
    assert "s/cret" not in repr(read_config())


def test_a_mail_server_needs_a_sender_and_an_address(environment):
    environment.setenv("MEMORYHUB_SMTP_URL", "mail.example.org")
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_SMTP_URL must look like"):
        read_config()
    environment.setenv("MEMORYHUB_SMTP_URL", "smtps://mail.example.org")
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_MAIL_FROM"):
        read_config()


@pytest.mark.parametrize("url", ["mysql://localhost/hub", "sqlite:///hub.db", "nonsense", "postgresql://h:port/x"])
def test_database_url_that_names_no_postgresql_is_refused(environment, url):
    environment.setenv("DATABASE_URL", url)
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        read_config().database_settings()


def test_error_about_database_url_does_not_show_its_password(environment):
    environment.setenv("DATABASE_URL", "postgresql://me:s3cret-word@host:port/x")
    with pytest.raises(ImproperlyConfigured) as caught:
        read_config().database_settings()
    assert "s3cret-word" not in str(caught.value)


def test_a_database_url_becomes_djangos_settings(environment):
    environment.setenv("DATABASE_URL", "postgresql://me:word@db.example.org:6432/hub")
    settings = read_config().database_settings()
    assert settings["HOST"] == "db.example.org"
    assert settings["PORT"] == 6432
    assert settings["NAME"] == "hub"


def test_direct_address_is_one_more_of_the_same_database(environment):
    assert read_config().direct_settings() is None
    environment.setenv("MEMORYHUB_DIRECT_DATABASE_URL", "postgresql://me:word@db.example.org/hub")
    with pytest.raises(ImproperlyConfigured, match="set both"):
        read_config().direct_settings()
    environment.setenv("DATABASE_URL", "postgresql://me:word@pooler.example.org:6432/hub")
    assert read_config().direct_settings()["HOST"] == "db.example.org"
    assert read_config().database_settings()["HOST"] == "pooler.example.org"
    environment.setenv("MEMORYHUB_DIRECT_DATABASE_URL", "mysql://me:word@db.example.org/hub")
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_DIRECT_DATABASE_URL must name") as caught:
        read_config().direct_settings()
    assert "word" not in str(caught.value)


def test_openai_embeddings_need_key_or_address(environment):
    environment.setenv("MEMORYHUB_EMBEDDER", "openai")
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_EMBEDDING_API_KEY"):
        read_config()
    environment.setenv("MEMORYHUB_EMBEDDING_BASE_URL", "http://127.0.0.1:9000/v1")
    assert read_config().embedding.embedder == "openai"


def test_what_guards_calls_is_read(environment):
    environment.setenv("MEMORYHUB_CHAT_DAILY_BUDGET_USD", "2.50")
    environment.setenv("MEMORYHUB_CHAT_TOKENS_PER_MINUTE", "openai=200000,local=0")
    guards = read_config().guards
    assert guards.daily_budget_usd == Decimal("2.5")
    assert guards.tokens_per_minute == {"openai": 200_000, "local": 0}


def test_key_of_32_printable_characters_is_accepted(environment):
    environment.setenv("MEMORYHUB_API_KEY", "!" * 31 + "~")
    assert read_config().api_key == "!" * 31 + "~"


def test_relative_data_directory_is_made_absolute(environment):
    environment.setenv("MEMORYHUB_DATA_DIR", "elsewhere")
    assert read_config().data_dir == Path.cwd() / "elsewhere"


def test_signing_key_is_made_once_and_kept_private(environment, tmp_path):
    environment.setenv("MEMORYHUB_DATA_DIR", str(tmp_path))
    key = read_config().load_secret_key()
    assert len(key) >= 50
    assert read_config().load_secret_key() == key
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_data_directory_made_for_signing_key_is_closed_to_others(environment, tmp_path):
    environment.setenv("MEMORYHUB_DATA_DIR", str(tmp_path / "new"))
    read_config().load_secret_key()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_data_directory_that_is_there_stays_as_open_as_it_is(environment, tmp_path):
    environment.setenv("MEMORYHUB_DATA_DIR", str(tmp_path))
    tmp_path.chmod(0o710)
    read_config().load_secret_key()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o710


def test_processes_that_start_at_once_agree_on_whole_signing_key(environment, tmp_path):
    environment.setenv("MEMORYHUB_DATA_DIR", str(tmp_path))
    together = threading.Barrier(8)

    def load(_):
        together.wait()
        return read_config().load_secret_key()

    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(load, range(8)))
    assert keys == {(tmp_path / "secret_key").read_text()}
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_signing_key_of_quicker_process_is_taken(environment, tmp_path):
    environment.setenv("MEMORYHUB_DATA_DIR", str(tmp_path))

    def quicker(size):
        (tmp_path / "secret_key").write_text("q" * 67)
        return "s" * 67

    environment.setattr("memoryhub.config.hub.secrets.token_urlsafe", quicker)
    assert read_config().load_secret_key() == "q" * 67


def test_the_signing_key_is_never_there_in_part(environment, tmp_path):
    environment.setenv("MEMORYHUB_DATA_DIR", str(tmp_path))
    seen = []
    environment.setattr("memoryhub.config.hub.os.fsync", lambda _: seen.append((tmp_path / "secret_key").exists()))
    read_config().load_secret_key()
    assert seen == [False]


def test_damaged_signing_key_is_named_and_not_replaced(environment, tmp_path):
    environment.setenv("MEMORYHUB_DATA_DIR", str(tmp_path))
    (tmp_path / "secret_key").write_text("half")
    with pytest.raises(ImproperlyConfigured, match="secret_key is damaged"):
        read_config().load_secret_key()
    assert (tmp_path / "secret_key").read_text() == "half"
