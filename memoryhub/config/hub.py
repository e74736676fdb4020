"""Every environment variable of MemoryHub, read and checked in one place (DESIGN section 4).

A value that cannot be used stops the start with a sentence that names the variable.
"""

import contextlib
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvValidationError, validate

from apps.llm.domain import breaker
from apps.llm.domain.budget import MAX_AMOUNT
from memoryhub.config.chat import ChatConfig, read_chat_config
from memoryhub.config.context import ContextConfig, read_context
from memoryhub.config.rerank import RerankConfig, read_rerank_config
from memoryhub.config.sync import SyncConfig, read_sync

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
EMBEDDERS = ("auto", "e5", "minilm", "openai", "hashing")
ACCESS_LOGS = ("off", "text", "json")
LOCAL_DIMENSION = 384
API_KEY_MIN_CHARS = 32
API_KEY_MAX_CHARS = 200


# Whose memory of a fresh hub it is where nobody is named: in a file of the data directory, written at the first start.
DEFAULT_USER_FILE, OWNER = "default_user", "owner"


@dataclass(frozen=True)
class EmbeddingConfig:
    """The embedder that computes the vectors, and how it is reached.

    embedder: `auto` for the local one by which the hub has its vectors.
    """

    embedder: str
    minilm_precision: str
    openai_base_url: str | None
    openai_api_key: str | None = field(repr=False)
    openai_model: str
    openai_dimension: int
    openai_timeout_seconds: float
    threads: int

    @property
    def dimension(self) -> int:
        """Return the length of the embedder's vectors."""
        return self.openai_dimension if self.embedder == "openai" else LOCAL_DIMENSION


@dataclass(frozen=True)
class TimelineConfig:
    """When segments of the timeline are closed and archived, and when it warns."""

    segment_events: int
    rotate_hours: float
    archive_after_hours: float
    max_rows: int
    write_ms: float
    min_free_mb: int


@dataclass(frozen=True)
class GuardConfig:
    """Limits of calls to chat models (spec 002 sections 3, 4 and 6).

    daily_budget_usd: 0 for no budget. tokens_per_minute: of a provider, 0 for no limit; others have those of the spec.
    reservation_seconds: how long a killed process holds money and tokens at most; longer than any call.
    """

    daily_budget_usd: Decimal
    tokens_per_minute: Mapping[str, int]
    breaker_error_threshold: float
    breaker_window_size: int
    breaker_window_seconds: float
    breaker_cooldown_seconds: float
    breaker_probes: int
    reservation_seconds: int
    keep_content: bool
    call_retention_days: int


@dataclass(frozen=True)
class MailConfig:
    """The mail server by which alarms are sent. is_ssl: encrypted from the start; is_starttls: from a command on."""

    host: str
    port: int
    username: str
    password: str = field(repr=False)
    is_ssl: bool
    is_starttls: bool
    sender: str


@dataclass(frozen=True)
class Config:
    """The typed settings of one process. is_supervised: `manage.py up` runs it, and starts again what ends."""

    data_dir: Path
    host: str
    port: int
    public_url: str | None
    allowed_hosts: tuple[str, ...]
    database_url: str | None = field(repr=False)
    direct_database_url: str | None = field(repr=False)
    admin_username: str
    admin_password: str | None = field(repr=False)
    api_key: str | None = field(repr=False)
    secret_key: str | None = field(repr=False)
    debug: bool
    default_user: str | None
    run: str | None
    web_processes: int
    web_threads: int
    web_wait_seconds: float
    web_patience_seconds: float
    worker_processes: int
    metrics_token: str | None = field(repr=False)
    log_level: str
    current_first: bool
    pair_judge: bool
    index_cache_mb: int
    index_backlog_rows: int
    index_write_ms: float
    max_content_chars: int
    notes_search: str
    event_retention_days: int
    conversation_days: int
    reinforceable_half_life_days: float
    contextual_half_life_days: float
    embedding: EmbeddingConfig
    chat: ChatConfig
    context: ContextConfig
    guards: GuardConfig
    timeline: TimelineConfig
    sync: SyncConfig
    redis_url: str | None = field(repr=False)
    files_url: str | None
    files_cache_mb: int
    live_sockets: int
    disk_warning_mb: int = 0
    audit_days: int = 365
    upload_mb: int = 64
    app_registration: bool = True
    app_sign_in_days: int = 90
    given_days: int = 90
    is_supervised: bool = False
    mail: MailConfig | None = None
    access_log: str = "off"
    rerank: RerankConfig | None = None

    @property
    def https(self) -> bool:
        """Return whether the hub is reached over HTTPS, so that cookies and redirects must require it."""
        return bool(self.public_url and self.public_url.startswith("https://"))

    def database_settings(self) -> dict[str, Any] | None:
        """Return Django's DATABASES entry for DATABASE_URL, or None when the embedded server is used."""
        return parse_database_url("DATABASE_URL", self.database_url) if self.database_url else None

    def direct_settings(self) -> dict[str, Any] | None:
        """Return Django's DATABASES entry of the database without its pooler, or None where there is none."""
        if not self.direct_database_url:
            return None
        if not self.database_url:
            raise ImproperlyConfigured(
                "MEMORYHUB_DIRECT_DATABASE_URL is the database behind the pooler that DATABASE_URL names: set both."
            )
        return parse_database_url("MEMORYHUB_DIRECT_DATABASE_URL", self.direct_database_url)

    def load_secret_key(self) -> str:
        """Return the signing key: MEMORYHUB_SECRET_KEY, else that of the data directory, created at the first start."""
        if self.secret_key:
            return self.secret_key
        path = self.data_dir / "secret_key"
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            create_secret(path)
        key = path.read_text().strip()
        if len(key) < 50:
            raise ImproperlyConfigured(f"{path} is damaged: delete it (everyone then has to sign in again).")
        return key


def parse_database_url(name: str, url: str) -> dict[str, Any]:
    """Return Django's DATABASES entry for the address of a variable. Raises ImproperlyConfigured."""
    try:
        parsed = dj_database_url.parse(url)
    except (ValueError, dj_database_url.ParseError, dj_database_url.UnknownSchemeError) as error:
        raise ImproperlyConfigured(f"{name} cannot be read: {type(error).__name__}.") from error
    if "postgresql" not in str(parsed.get("ENGINE")):
        raise ImproperlyConfigured(f"{name} must name a PostgreSQL server (postgresql://...).")
    return dict(parsed)


def create_secret(path: Path) -> None:
    """Write a new key, which appears complete; when another process is faster, its key stays."""
    descriptor, aside = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # only for the owner
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
            file.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        Path(aside).unlink()


def read_config() -> Config:
    """Read the environment.

    Raises ImproperlyConfigured with the name of the variable and what would be right.
    """
    try:
        return read_environment(Env())
    except EnvValidationError as error:
        # Its text is `Environment variable "NAME" invalid: [...]`.
        name = str(error).split('"')[1]
        raise ImproperlyConfigured(f"{name} cannot be used. {' '.join(map(str, error.error_messages))}") from error


def read_default_user(env: Env, data_dir: Path) -> str | None:
    """Return MEMORYHUB_DEFAULT_USER, also where it names nobody; else the user of the data directory, if it has one."""
    named = env.str("MEMORYHUB_DEFAULT_USER", None, validate=validate.Length(max=200))
    if named is not None:
        return named or None
    with contextlib.suppress(OSError):
        return (data_dir / DEFAULT_USER_FILE).read_text(encoding="utf-8").strip()[:200] or None
    return None


def choose_default_user(config: Config) -> str | None:
    """Make the owner of a fresh hub its default user from the next start of a process on; return their id.

    None where the configuration says who it is, or a server of PostgreSQL may be shared with other machines, whose data
    directories have no such file.
    """
    if config.database_url or "MEMORYHUB_DEFAULT_USER" in os.environ:
        return None
    config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    (config.data_dir / DEFAULT_USER_FILE).write_text(f"{OWNER}\n", encoding="utf-8")
    return OWNER


def read_environment(env: Env) -> Config:
    """Read every variable. Raises ImproperlyConfigured or EnvValidationError."""
    processors = os.cpu_count() or 1
    data_dir = Path(env.str("MEMORYHUB_DATA_DIR", "data")).expanduser().absolute()
    return Config(
        data_dir=data_dir,
        host=env.str("MEMORYHUB_HOST", "127.0.0.1"),
        port=env.int("MEMORYHUB_PORT", 8000, validate=validate.Range(min=1, max=65535)),
        public_url=read_public_url(env),
        allowed_hosts=tuple(env.list("MEMORYHUB_ALLOWED_HOSTS", [])),
        database_url=env.str("DATABASE_URL", "") or None,
        direct_database_url=env.str("MEMORYHUB_DIRECT_DATABASE_URL", "") or None,
        admin_username=env.str("MEMORYHUB_ADMIN_USERNAME", "admin", validate=validate.Length(min=1, max=150)),
        admin_password=env.str("MEMORYHUB_ADMIN_PASSWORD", "") or None,
        api_key=read_api_key(env),
        secret_key=env.str("MEMORYHUB_SECRET_KEY", "") or None,
        debug=env.bool("MEMORYHUB_DEBUG", False),
        default_user=read_default_user(env, data_dir),
        run=env.str("MEMORYHUB_RUN", "", validate=validate.Length(max=200)) or None,
        web_processes=env.int("MEMORYHUB_WEB_PROCESSES", min(processors, 2), validate=validate.Range(min=1, max=64)),
        web_threads=env.int("MEMORYHUB_WEB_THREADS", 8, validate=validate.Range(min=1, max=256)),
        web_wait_seconds=env.float("MEMORYHUB_WEB_WAIT_SECONDS", 1.0, validate=validate.Range(min=0.05, max=60)),
        web_patience_seconds=env.float(
            "MEMORYHUB_WEB_PATIENCE_SECONDS", 60.0, validate=validate.Range(min=5, max=3_600)
        ),
        worker_processes=env.int("MEMORYHUB_WORKER_PROCESSES", 1, validate=validate.Range(min=1, max=64)),
        metrics_token=env.str("MEMORYHUB_METRICS_TOKEN", "") or None,
        log_level=env.str(
            "MEMORYHUB_LOG_LEVEL", "INFO", validate=validate.OneOf(["DEBUG", "INFO", "WARNING", "ERROR"])
        ),
        current_first=env.bool("MEMORYHUB_CURRENT_FIRST", True),
        pair_judge=env.bool("MEMORYHUB_PAIR_JUDGE", True),
        index_cache_mb=env.int("MEMORYHUB_INDEX_CACHE_MB", 1024, validate=validate.Range(min=16)),
        index_backlog_rows=env.int("MEMORYHUB_INDEX_BACKLOG_ROWS", 100_000, validate=validate.Range(min=1_000)),
        index_write_ms=env.float("MEMORYHUB_INDEX_WRITE_MS", 1_000.0, validate=validate.Range(min=1)),
        max_content_chars=env.int(
            "MEMORYHUB_MAX_CONTENT_CHARS", 100_000, validate=validate.Range(min=1_000, max=500_000)
        ),
        notes_search=env.str("MEMORYHUB_NOTES_SEARCH", "hybrid", validate=validate.OneOf(["hybrid", "keyword"])),
        event_retention_days=env.int("MEMORYHUB_EVENT_RETENTION_DAYS", 7, validate=validate.Range(min=1)),
        conversation_days=env.int("MEMORYHUB_CONVERSATION_DAYS", 30, validate=validate.Range(min=1, max=36_500)),
        reinforceable_half_life_days=env.float(
            "MEMORYHUB_REINFORCEABLE_HALF_LIFE_DAYS", 30.0, validate=validate.Range(min=0.01, max=100_000)
        ),
        contextual_half_life_days=env.float(
            "MEMORYHUB_CONTEXTUAL_HALF_LIFE_DAYS", 7.0, validate=validate.Range(min=0.01, max=100_000)
        ),
        embedding=read_embedding(env),
        chat=read_chat_config(env),
        rerank=read_rerank_config(env),
        context=read_context(env),
        guards=read_guards(env),
        timeline=read_timeline(env),
        sync=read_sync(env, data_dir),
        redis_url=read_redis_url(env),
        files_url=read_files_url(env),
        files_cache_mb=env.int("MEMORYHUB_FILES_CACHE_MB", 1024, validate=validate.Range(min=16)),
        live_sockets=env.int("MEMORYHUB_LIVE_SOCKETS", 500, validate=validate.Range(min=1, max=10_000)),
        disk_warning_mb=env.int("MEMORYHUB_DISK_WARNING_MB", 0, validate=validate.Range(min=0)),
        # A trigger of the table keeps a month, whatever is set.
        given_days=env.int("MEMORYHUB_GIVEN_DAYS", 90, validate=validate.Range(min=0, max=36_500)),
        # A web process holds 256 MB of requests.
        upload_mb=env.int("MEMORYHUB_UPLOAD_MB", 64, validate=validate.Range(min=1, max=200)),
        audit_days=env.int("MEMORYHUB_AUDIT_DAYS", 365, validate=validate.Range(min=31, max=36_500)),
        app_registration=env.bool("MEMORYHUB_APP_REGISTRATION", True),
        app_sign_in_days=env.int("MEMORYHUB_APP_SIGN_IN_DAYS", 90, validate=validate.Range(min=1, max=3_650)),
        access_log=env.str("MEMORYHUB_ACCESS_LOG", "off", validate=validate.OneOf(ACCESS_LOGS)),
        # The mark by which the supervisor finds its children (memoryhub/process/children.py).
        is_supervised=bool(env.str("MEMORYHUB_CHILD_OF", "")),
        mail=read_mail(env),
    )


def read_api_key(env: Env) -> str | None:
    """Return the secret of the first operator key, if one was chosen. Raises ImproperlyConfigured."""
    key: str | None = env.str("MEMORYHUB_API_KEY", "") or None
    if key and not (API_KEY_MIN_CHARS <= len(key) <= API_KEY_MAX_CHARS and all("!" <= c <= "~" for c in key)):
        raise ImproperlyConfigured("MEMORYHUB_API_KEY must be 32 to 200 printable ASCII characters without spaces.")
    return key


def read_public_url(env: Env) -> str | None:
    """Return the address at which the hub is reached from outside, if there is one. Raises ImproperlyConfigured."""
    url: str | None = env.str("MEMORYHUB_PUBLIC_URL", "").rstrip("/") or None
    if url and (urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname):
        raise ImproperlyConfigured("MEMORYHUB_PUBLIC_URL must look like https://hub.example.org.")
    return url


def read_mail(env: Env) -> MailConfig | None:
    """Return the mail server, if there is one. Raises ImproperlyConfigured.

    smtps:// is encrypted from the start, smtp:// by STARTTLS, but to a server on this machine.
    """
    url = env.str("MEMORYHUB_SMTP_URL", "")
    if not url:
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    sender = env.str("MEMORYHUB_MAIL_FROM", "")
    if not host or parts.scheme not in {"smtp", "smtps"}:
        raise ImproperlyConfigured("MEMORYHUB_SMTP_URL must look like smtps://name:password@mail.example.org:465.")
    if "@" not in sender:
        raise ImproperlyConfigured(
            "MEMORYHUB_MAIL_FROM must be the address that mail comes from, with MEMORYHUB_SMTP_URL."
        )
    is_ssl, is_here = parts.scheme == "smtps", host in {"localhost", "127.0.0.1", "::1"}
    return MailConfig(
        host=host,
        port=port or (465 if is_ssl else 25 if is_here else 587),
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        is_ssl=is_ssl,
        is_starttls=not is_ssl and not is_here,
        sender=sender,
    )


def read_redis_url(env: Env) -> str | None:
    """Return the address of a Redis server, if there is one. Raises ImproperlyConfigured."""
    url: str | None = env.str("REDIS_URL", "") or None
    if url and urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured("REDIS_URL must look like redis://localhost:6379/0.")
    return url


def read_files_url(env: Env) -> str | None:
    """Return the bucket for files of several hosts, if there is one. Raises ImproperlyConfigured.

    Credentials and the address of a server of one's own are those of the usual environment (AWS_...).
    """
    url: str | None = env.str("MEMORYHUB_FILES_URL", "").rstrip("/") or None
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
        raise ImproperlyConfigured("MEMORYHUB_FILES_URL must look like s3://bucket/folder.")
    if find_spec("boto3") is None:
        raise ImproperlyConfigured("MEMORYHUB_FILES_URL needs boto3. Install it: `uv sync --extra s3`.")
    return url


def read_embedding(env: Env) -> EmbeddingConfig:
    """Read the embedder. Who chooses a precision of MiniLM has chosen MiniLM. Raises ImproperlyConfigured."""
    usual = "minilm" if "MEMORYHUB_MINILM_PRECISION" in os.environ else "auto"
    config = EmbeddingConfig(
        embedder=env.str("MEMORYHUB_EMBEDDER", usual, validate=validate.OneOf(EMBEDDERS)),
        minilm_precision=env.str("MEMORYHUB_MINILM_PRECISION", "int8", validate=validate.OneOf(["int8", "float32"])),
        openai_base_url=env.str("MEMORYHUB_EMBEDDING_BASE_URL", "") or None,
        openai_api_key=env.str("MEMORYHUB_EMBEDDING_API_KEY", "") or None,
        openai_model=env.str("MEMORYHUB_EMBEDDING_MODEL", "text-embedding-3-small"),
        openai_dimension=env.int("MEMORYHUB_EMBEDDING_DIMENSION", 1536, validate=validate.Range(min=8, max=16_000)),
        openai_timeout_seconds=env.float(
            "MEMORYHUB_EMBEDDING_TIMEOUT_SECONDS", 20.0, validate=validate.Range(min=0.1, max=600)
        ),
        threads=env.int("MEMORYHUB_EMBEDDING_THREADS", min(os.cpu_count() or 1, 4), validate=validate.Range(min=1)),
    )
    if config.embedder == "openai" and not (config.openai_base_url or config.openai_api_key):
        raise ImproperlyConfigured(
            "MEMORYHUB_EMBEDDER=openai needs MEMORYHUB_EMBEDDING_API_KEY, "
            "or MEMORYHUB_EMBEDDING_BASE_URL of a server that requires no key."
        )
    return config


def read_timeline(env: Env) -> TimelineConfig:
    """Read the settings of the timeline."""
    return TimelineConfig(
        segment_events=env.int("MEMORYHUB_TIMELINE_SEGMENT_EVENTS", 50_000, validate=validate.Range(1, 1_000_000)),
        rotate_hours=env.float("MEMORYHUB_TIMELINE_ROTATE_HOURS", 24.0, validate=validate.Range(min=0.01)),
        archive_after_hours=env.float("MEMORYHUB_TIMELINE_ARCHIVE_AFTER_HOURS", 168.0, validate=validate.Range(min=0)),
        max_rows=env.int("MEMORYHUB_TIMELINE_MAX_ROWS", 2_000_000, validate=validate.Range(min=1)),
        write_ms=env.float("MEMORYHUB_TIMELINE_WRITE_MS", 1_000.0, validate=validate.Range(min=1)),
        min_free_mb=env.int("MEMORYHUB_TIMELINE_MIN_FREE_MB", 512, validate=validate.Range(min=1)),
    )


def read_guards(env: Env) -> GuardConfig:
    """Read the limits of calls to chat models. Raises ImproperlyConfigured."""

    def number(name: str, default: int, lowest: int, highest: int) -> int:
        return env.int(name, default, validate=validate.Range(min=lowest, max=highest))

    def seconds(name: str, default_ms: int) -> float:
        return env.float(name, default_ms / 1_000, validate=validate.Range(min=0.1, max=86_400))

    items: list[str] = env.list("MEMORYHUB_CHAT_TOKENS_PER_MINUTE", [])
    rates = [item.partition("=") for item in items]
    if not all(provider and limit.isascii() and limit.isdigit() for provider, _, limit in rates):
        raise ImproperlyConfigured("MEMORYHUB_CHAT_TOKENS_PER_MINUTE must look like openai=90000,anthropic=0.")
    return GuardConfig(
        daily_budget_usd=env.decimal(
            "MEMORYHUB_CHAT_DAILY_BUDGET_USD", Decimal(0), validate=validate.Range(min=0, max=MAX_AMOUNT)
        ),
        tokens_per_minute={provider: int(limit) for provider, _, limit in rates},
        breaker_error_threshold=env.float(
            "MEMORYHUB_CHAT_BREAKER_ERROR_THRESHOLD",
            breaker.ERROR_THRESHOLD,
            validate=validate.Range(min=0.01, max=1),
        ),
        breaker_window_size=number("MEMORYHUB_CHAT_BREAKER_WINDOW_SIZE", breaker.WINDOW_SIZE, 1, 1_000),
        breaker_window_seconds=seconds("MEMORYHUB_CHAT_BREAKER_WINDOW_SECONDS", breaker.WINDOW_MS),
        breaker_cooldown_seconds=seconds("MEMORYHUB_CHAT_BREAKER_COOLDOWN_SECONDS", breaker.COOLDOWN_MS),
        breaker_probes=number("MEMORYHUB_CHAT_BREAKER_PROBES", breaker.PROBES_REQUIRED, 1, 100),
        reservation_seconds=number("MEMORYHUB_CHAT_RESERVATION_SECONDS", 900, 60, 86_400),
        keep_content=env.bool("MEMORYHUB_CHAT_KEEP_CONTENT", False),
        call_retention_days=number("MEMORYHUB_CHAT_CALL_RETENTION_DAYS", 30, 1, 36_500),
    )
