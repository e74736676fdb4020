"""What must be done before the hub can answer: run by `manage.py prepare`, which `manage.py up` calls."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection, transaction

from apps.core import selectors, services
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.events.services import schedules_ensure
from apps.llm.services import ensure_space, get_embedder, prices_ensure
from apps.semantic.memories.reembed import outdated_words, refresh_words
from memoryhub.postgres import check
from memoryhub.process.terminal import step
from memoryhub.schedules import SCHEDULES

# Any number that no other program on the same server is likely to lock.
PREPARATION_LOCK = 0x4D656D6F
STAMP = ".collected"


@dataclass(frozen=True)
class Credentials:
    """What the first start made; None for what was there before or came from the environment.

    notice: something about the given credentials that the operator should know.
    """

    admin_username: str | None = None
    admin_password: str | None = None
    api_key: str | None = None
    notice: str | None = None


def prepare() -> Credentials:
    """Bring database, models, static files and first credentials up to date; safe to repeat.

    Raises DatabaseUnfitError or EmbeddingSpaceMismatchError, whose texts are for the operator.
    """
    if settings.MEMORYHUB.database_url:
        check.require_fit_server(connection.settings_dict)
    with _one_at_a_time():
        with step("Migrating the database"):
            call_command("migrate", verbosity=0, interactive=False)
        with step("Preparing the embedding model"):
            call_command("prepare_models", verbosity=0)
            ensure_space(get_embedder())
        if outdated_words().exists():
            with step("Bringing keyword documents up to date"):
                refresh_words()
        with step("Collecting static files"):
            collect_static(Path(settings.STATIC_ROOT))
        with step("Checking schedules and credentials"):
            schedules_ensure(specs=SCHEDULES)
            prices_ensure()
            return first_credentials()


def first_credentials() -> Credentials:
    """Make the admin user when there is no user, and the operator's API key when there is no key."""
    with transaction.atomic():
        password = _create_admin()
        api_key = _create_operator_key()
    return Credentials(
        admin_username=settings.MEMORYHUB.admin_username if password else None,
        admin_password=password,
        api_key=api_key,
        notice=_notice(),
    )


def collect_static(root: Path) -> bool:
    """Copy static files to `root` when they are not those of the last time; True when it did."""
    stamp = root / STAMP
    fingerprint = _static_fingerprint()
    if stamp.exists() and stamp.read_text() == fingerprint:
        return False
    # Cleared first: collectstatic keeps a file that is newer than the one of an older version.
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(fingerprint)
    return True


def _static_fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _create_admin() -> str | None:
    """Make the first user; returns a password only when it was made here."""
    users = get_user_model().objects
    if users.exists():
        return None
    given = settings.MEMORYHUB.admin_password
    password = given or secrets.token_urlsafe(15)
    users.create_superuser(username=settings.MEMORYHUB.admin_username, password=password)
    return None if given else password


def _create_operator_key() -> str | None:
    """Make the first key; returns it only when it was made here."""
    if ApiKey.objects.exists():
        return None
    given = settings.MEMORYHUB.api_key
    _, secret = services.key_create(
        name="operator", scope=Scope(), permission=Permission.OPERATOR, secret=given, actor="first start"
    )
    return None if given else secret


def _notice() -> str | None:
    given = settings.MEMORYHUB.api_key
    if given is None or selectors.key_verify(given, utcnow(SYSTEM_CLOCK)) is not None:
        return None
    return (
        "MEMORYHUB_API_KEY is only used at the first start, and this hub has other keys: "
        "make a key in the admin or with POST /api/keys."
    )


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Let machines that share a database prepare it one after the other."""
    parameters = {k: v for k, v in connection.get_connection_params().items() if k != "pool"}
    with psycopg.connect(**parameters, autocommit=True) as lock:
        lock.execute("SELECT pg_advisory_lock(%s)", (PREPARATION_LOCK,))
        yield
