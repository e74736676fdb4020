"""Django settings, derived from `memoryhub.config.hub`; nothing here reads the environment itself."""

import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy

from apps.oauth.domain.clients import SCHEMES
from memoryhub.config.api import API_SECTION_OF as API_SECTION_OF
from memoryhub.config.api import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS
from memoryhub.config.headers import CONTENT_SECURITY_POLICY as CONTENT_SECURITY_POLICY
from memoryhub.config.headers import PERMISSIONS_POLICY as PERMISSIONS_POLICY
from memoryhub.config.hub import read_config
from memoryhub.config.theme import UNFOLD as UNFOLD
from memoryhub.postgres import server

BASE_DIR = Path(__file__).resolve().parent.parent
CONFIG = read_config()

SECRET_KEY = CONFIG.load_secret_key()
DEBUG = CONFIG.debug
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "memoryhub.urls"
ASGI_APPLICATION = "memoryhub.asgi.application"
APPEND_SLASH = True

INSTALLED_APPS = [
    # The theme without its own site: that of the hub audits every page (memoryhub/admin_site.py).
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "memoryhub.apps.HubAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django_q",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "drf_standardized_errors",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "oauth2_provider",
    "memoryhub",
    "apps.core",
    "apps.accounts",
    "apps.audit",
    "apps.given",
    "apps.live",
    "apps.monitor",
    "apps.events",
    "apps.llm",
    "apps.store",
    "apps.rules",
    "apps.episodic",
    "apps.semantic",
    "apps.notes",
    "apps.people",
    "apps.oauth",
    "apps.sync",
    "apps.context",
    "apps.imports",
    "apps.cockpit",
    "apps.webui",
    "apps.mcp",
    # Measurements are no part of the product: an installation may leave the folder out.
    *(["benchmarks"] if find_spec("benchmarks") else []),
]

MIDDLEWARE = [
    "apps.core.rest.middleware.RequestMetricsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "apps.core.rest.middleware.ContentPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "apps.core.pages.seen.SeenMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.LanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "apps.accounts.middleware.AccountPagesMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "apps.audit.recording.middleware.AuditMiddleware",
]

CSRF_FAILURE_VIEW = "apps.core.rest.errors.csrf_failure"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["apps.core.templatetags.texts", "apps.core.templatetags.times"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.accounts.context.account_pages",
            ],
        },
    },
]

# --- database -------------------------------------------------------------------------------------
DATABASES = {"default": CONFIG.database_settings() or server.database_settings(CONFIG.data_dir)}
if direct := CONFIG.direct_settings():
    # The same database without its pooler, for what needs a session of its own (apps/core/db/sessions.py).
    DATABASES["direct"] = direct
# A connection that a network cut off ends after half a minute; a web process does not wait so long (core/db/watch.py).
TCP_LIMITS = {
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
for database in DATABASES.values():
    database["ENGINE"] = "apps.core.db.backend"
    database["OPTIONS"] = TCP_LIMITS | database.get("OPTIONS", {})
    # Each thread keeps its connection. No pool: the processes of the worker fork, and sockets must not be shared.
    database["CONN_MAX_AGE"] = None
    database["CONN_HEALTH_CHECKS"] = True
if direct:
    # Threads that answer requests seldom need one, and the server has few.
    direct["CONN_MAX_AGE"] = 60

# --- caches ---------------------------------------------------------------------------------------
# Limits count in the database, so that all web processes count together. What one process caches is in "process".
CACHES = {
    "default": {
        "BACKEND": "apps.accounts.cache.CountsCache",
        "LOCATION": "accounts_cachedvalue",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}

# --- people ---------------------------------------------------------------------------------------
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["apps.accounts.backend.AccountBackend"]
LOGIN_URL = reverse_lazy("account_login")
LOGIN_REDIRECT_URL = reverse_lazy("admin:index")
# Of links by which people choose a password.
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60
# The roles that are shipped, and the models whose pages show a bound account only what is inside its bound.
ROLES = "memoryhub.roles.ROLES"
SCOPED_MODELS = frozenset({
    "semantic.memory", "semantic.conflict", "semantic.ingestion", "semantic.bridgeaudit", "episodic.timelineevent",
    "audit.auditentry",
})  # fmt: skip
ACCOUNT_ADAPTER = "apps.accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {"login": "apps.accounts.forms.SignInForm"}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_REDIRECT_URL = reverse_lazy("account_login")
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"  # noqa: S105
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "20/m/ip,5/5m/key",
    "invitation": "20/m/ip",
    "connect_code": "30/10m/ip,10/10m/user",
    "register_app": "20/10m/ip",
}
MFA_ADAPTER = "apps.accounts.adapters.SecondFactorAdapter"
MFA_FORMS = {
    "activate_totp": "apps.accounts.forms.ActivateAppForm",
    "add_webauthn": "apps.accounts.forms.AddPasskeyForm",
    "edit_webauthn": "apps.accounts.forms.EditPasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# No e-mail address is verified here.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# No mail is sent but alarms, by a server of their own (apps/monitor/alarms).
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
PUBLIC_HOST = urlsplit(CONFIG.public_url or "").hostname
ALLOWED_HOSTS = sorted(
    {
        "localhost",
        "127.0.0.1",
        "[::1]",
        CONFIG.host,
        *CONFIG.allowed_hosts,
        *([PUBLIC_HOST] if PUBLIC_HOST else []),
    }
    - {"0.0.0.0", "::"}  # noqa: S104  (an address to listen on, not a name that a client uses)
)
CSRF_TRUSTED_ORIGINS = [CONFIG.public_url] if CONFIG.public_url else []
SESSION_ENGINE = "apps.accounts.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CONFIG.https
SECURE_SSL_REDIRECT = CONFIG.https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if CONFIG.https else None
SECURE_HSTS_SECONDS = 31_536_000 if CONFIG.https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = CONFIG.https
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"

# --- files, language, time --------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = CONFIG.data_dir / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "memoryhub.static_files.HubStaticStorage"},
}
LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = ["memoryhub.formats"]
# zh-TW, zh-HK and zh-MO are answered in Traditional Chinese. Each language is named as its readers name it.
LANGUAGES = [("en", "English"), ("zh-hant", "繁體中文")]
# Words of templates, scripts and packages of others; those of an app are in the app.
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = CONFIG.https
TIME_ZONE = "UTC"
USE_TZ = True
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024  # a batch of 1,000 memories with their vectors is about 10 MB
FILE_UPLOAD_HANDLERS = ["apps.imports.uploads.files.NamelessUploadHandler"]

# --- REST -------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.core.rest.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["apps.core.rest.authentication.HasKeyPermission"],
    "DEFAULT_PARSER_CLASSES": ["apps.core.schemas.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "apps.core.rest.negotiation.HubNegotiation",
    "DEFAULT_SCHEMA_CLASS": "apps.core.rest.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.core.rest.errors.handle_exception",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
    "COERCE_DECIMAL_TO_STRING": False,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
# --- apps that sign in (apps/oauth) -------------------------------------------------------------------------
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "apps.oauth.validator.SignInValidator",
    "SCOPES": {"read": "Read", "write": "Read and write"},
    "ACCESS_TOKEN_GENERATOR": "apps.oauth.secrets.access_token",
    "REFRESH_TOKEN_GENERATOR": "apps.oauth.secrets.refresh_token",
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3_600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": CONFIG.app_sign_in_days * 24 * 60 * 60,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": list(SCHEMES),
    # Programs of a person's own machine take any port (RFC 8252), and many of them call it so.
    "ALLOW_LOCALHOST_LOOPBACK": True,
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "apps.oauth.server.ClientDocumentFetcher",
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ("apps.oauth.server.AskedByPersonPermission",),
    **dict.fromkeys(
        (
            f"COMPLIANT_BCP_RFC9700_{gate}"
            for gate in (
                "IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "ACCESS_TOKEN_TRANSPORT", "TOKEN_STORAGE",
                "REFRESH_TOKEN", "REDIRECT_URI_MATCHING", "PKCE_REQUIRED", "AUTHZ_RESPONSE_ISS",
            )
        ),
        True,
    ),
}  # fmt: skip

# It warns of http, which is for the person's own machine alone (apps/oauth/domain/clients.py).
SILENCED_SYSTEM_CHECKS = ["oauth2_provider.W008"]

DRF_STANDARDIZED_ERRORS = {"ALLOWED_ERROR_STATUS_CODES": ["400", "401", "403", "404", "409", "415", "429", "503"]}
# --- live push: hints for browsers that something has changed ---------------------------------------------
# Which tables belong to which topics.
LIVE_TABLES = "memoryhub.topics.TOPICS"
# Of which of them people hear on their own pages.
LIVE_OWN_TABLES = "memoryhub.topics.OWN"
# Processes of several machines may share a Redis server; otherwise each listens to the database itself.
LIVE_IS_SHARED = CONFIG.redis_url is not None
LAYER_PREFIX = f"memoryhub-{sha256(SECRET_KEY.encode()).hexdigest()[:16]}"  # hubs that share one do not hear each other
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [CONFIG.redis_url], "prefix": LAYER_PREFIX},
    }
    if LIVE_IS_SHARED
    # A process is a member of its group for as long as it runs.
    else {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"group_expiry": 100 * 365 * 86_400}}
}

# --- background work ----------------------------------------------------------------------------------
Q_CLUSTER = {
    "name": "memoryhub",
    "orm": "default",
    "cache": "process",
    "broker_class": "apps.events.broker.HubBroker",
    "workers": CONFIG.worker_processes,
    "timeout": 600,
    "retry": 900,
    "max_attempts": 5,
    "ack_failures": True,
    "poll": 0.5,
    "save_limit": 500,
    "queue_limit": 100,
    "catch_up": False,
    "label": gettext_lazy("Background work"),
}

# --- MemoryHub's own ------------------------------------------------------------------------------------
MEMORYHUB = CONFIG
EVENT_SUBSCRIPTIONS = "memoryhub.subscriptions.SUBSCRIPTIONS"
JOB_WORDS = "memoryhub.words.JOBS"
EVENT_WORDS = "memoryhub.words.EVENTS"
HANDLER_WORDS = "memoryhub.words.HANDLERS"
TOOLS = "memoryhub.tools.TOOLS"
# The sample household: how the ids of its people begin, and the tasks that bring it in and remove it.
SAMPLE = {"prefix": "sample-", "load": "memoryhub.tasks.sample_load", "unload": "memoryhub.tasks.sample_unload"}
MODELS_DIR = CONFIG.data_dir / "models"
SEMANTIC_INDEX_DIR = CONFIG.data_dir / "semantic-index"
TIMELINE_DIR = CONFIG.data_dir / "timeline"
# Where archived segments, downloads and uploads are instead, with several hosts.
TIMELINE_URL, DOWNLOADS_URL, UPLOADS_URL = (
    f"{CONFIG.files_url}/{folder}" if CONFIG.files_url else "" for folder in ("timeline", "downloads", "uploads")
)
FILES_CACHE_DIR = CONFIG.data_dir / "files-cache"
NOTES_DIR = CONFIG.data_dir / "prompts" / "memory"
NOTES_INDEX_DIR = CONFIG.data_dir / "notes-index"
NOTES_LOCKS_DIR = CONFIG.data_dir / "run" / "notes"
DOWNLOADS_DIR = CONFIG.data_dir / "downloads"
UPLOADS_DIR = CONFIG.data_dir / "uploads"
SYNC_DIR = CONFIG.data_dir / "sync"
SYNC_SECRETS_DIR = CONFIG.data_dir / "sync-secrets"

# --- logs: never the content of a memory ----------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} [{request_id}] {message}", "style": "{"}},
    # 503 is an answer that names what is missing, and a client that waits for /readyz gets it many times.
    "filters": {
        "request id": {"()": "apps.core.request_id.RequestIdFilter"},
        "foreign host": {"()": "apps.core.foreign_hosts.ForeignHostFilter"},
        "not unavailable": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(record, "status_code", None) != 503,
        },
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "stream": sys.stderr,
            "formatter": "line",
            "filters": ["request id"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "apps": {"level": CONFIG.log_level},
        "memoryhub": {"level": CONFIG.log_level},
        "memoryhub.access": {"level": "INFO"},
        "django.request": {"level": "ERROR", "filters": ["not unavailable"]},
        "django.security.DisallowedHost": {"filters": ["foreign host"]},
        # It writes a traceback a second while its server is gone; live push says so once.
        "channels_redis": {"level": "CRITICAL"},
        # It logs what clients send, such as arguments that do not fit.
        "mcp": {"level": "CRITICAL"},
        # To debug they say what a client is sent, with its code.
        "oauthlib": {"level": "WARNING"},
        "oauth2_provider": {"level": "WARNING"},
    },
}

# --- the checks of /readyz by name, and those among them that every web process must pass --------------------
READINESS_CHECKS = {
    "database": "apps.core.health.database_ready",
    "migrations": "apps.core.health.migrations_ready",
    "disk": "apps.core.health.disk_ready",
    "files": "apps.core.health.files_ready",
    "embedding": "apps.semantic.health.embedding_ready",
    "index": "apps.semantic.health.index_ready",
    "timeline": "apps.episodic.selectors.timeline_ready",
    "web": "apps.core.processes.web_ready",
    "worker": "apps.core.processes.worker_ready",
    "schedules": "apps.events.selectors.schedules_ready",
}
PROCESS_CHECKS = ("files", "embedding", "index", "timeline")
# The folders of files that nothing else holds: functions that return a `core.file_roots.Root`.
FILE_ROOTS = ("apps.episodic.selectors.timeline_root", "apps.notes.selectors.notes_root")
# What the audit records, by names of routes, models and commands.
AUDIT_TABLES = "memoryhub.audit"
# Which users, households and personas there are, for suggestions: functions of an identifier's name and a limit.
IDENTIFIER_SOURCES = ("apps.semantic.selectors.known_identifiers", "apps.episodic.selectors.known_identifiers")
# How many people and memories there are of each: a function of an identifier's name and a limit.
IDENTIFIER_COUNTS = "apps.semantic.status.identifier_counts"
# What a process publishes about itself, by name.
PROCESS_FACTS = {
    "settings": "memoryhub.config.shared.settings_facts",
    "sessions": "apps.live.services.listener_facts",
    "index": "apps.semantic.health.index_facts",
    "large_indexes": "apps.semantic.health.large_index_facts",
    "forgotten": "apps.people.erasure.caches.forgotten_facts",
    "given": "apps.given.recording.given_facts",
    "caches": "apps.core.domain.caches.cache_facts",
}

# --- numbers over time, and what needs a person ---------------------------------------------------------------
SERIES = "memoryhub.series.SERIES"
PROBLEM_SOURCES = (
    "memoryhub.problems.processes.process_problems",
    "memoryhub.problems.processes.migration_problems",
    "memoryhub.problems.processes.disk_problems",
    "memoryhub.problems.jobs.schedule_problems",
    "memoryhub.problems.jobs.failed_job_problems",
    "memoryhub.problems.jobs.delivery_problems",
    "memoryhub.problems.stores.timeline_problems",
    "memoryhub.problems.stores.knowledge_problems",
    "memoryhub.problems.models.model_problems",
    "memoryhub.problems.accounts.sign_in_problems",
    "memoryhub.problems.accounts.membership_problems",
)
# What `manage.py doctor` examines.
EXAMINATIONS = "memoryhub.doctor.table.EXAMINATIONS"
