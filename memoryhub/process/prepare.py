"""What must be done before the hub can answer: run by `manage.py prepare`, which `manage.py up` calls."""

import hashlib
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection, transaction

from apps.core import file_roots, selectors, services
from apps.core.db.sessions import connect_session, default_is_direct
from apps.core.db.watch import Connection
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.processes import live_processes
from apps.core.terminal import progress_bar, say, step
from apps.events.services import schedules_ensure
from apps.llm.services import EmbeddingSpaceMismatchError, configured_space, get_embedder, prices_ensure
from apps.notes.services import notes_prepare
from apps.people.services import memberships_review
from apps.semantic.services import outdated_words, reembed, reembed_needed, refresh_words
from memoryhub.config.hub import choose_default_user
from memoryhub.config.shared import KEY_NAME, settings_facts
from memoryhub.postgres import check, django_checks
from memoryhub.process.startup import Credentials
from memoryhub.schedules import SCHEDULES

# Any number that no other program on the same server is likely to lock.
PREPARATION_LOCK = 0x4D656D6F
# Another machine may migrate large tables or fetch a model.
PATIENCE_SECONDS = 600.0
# Of a name of a connection, as PostgreSQL is built.
MAX_NAME = 63
# A connection that has got the lock asks for nothing else: so its last change of state is when it got it.
_HOLDER = """
SELECT held.pid, who.application_name, host(who.client_addr), who.state_change AT TIME ZONE 'UTC'
FROM pg_locks AS held LEFT JOIN pg_stat_activity AS who USING (pid)
WHERE held.locktype = 'advisory' AND held.granted AND (held.classid, held.objid, held.objsubid) = (%s, %s, 1)
  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
STAMP = ".collected"


class PreparationBusyError(Exception):
    """Another machine prepares the database, for longer than this one waits. The text is for the operator."""

    def __init__(self, holder: str, patience: float) -> None:
        super().__init__(
            f"The database is still being prepared by {holder}; this one has waited for {patience:g} s. Start again "
            "when that has ended. If nothing is being prepared there, end that connection: "
            "`SELECT pg_terminate_backend(...)` with its number."
        )


def prepare(*, adopt_files: bool = False, patience: float = PATIENCE_SECONDS) -> Credentials:
    """Bring database, models, static files and first credentials up to date; safe to repeat.

    adopt_files: take the folders of files as they are (`core.file_roots`). patience: for how many seconds to wait while
    another machine prepares the database.

    Raises DatabaseUnfitError, PreparationBusyError, HostUnfitError or EmbeddingSpaceMismatchError, whose texts are for
    the operator.
    """
    if settings.MEMORYHUB.database_url:
        check.require_fit_server(connection.settings_dict)
        django_checks.require_sessions()
    with default_is_direct(), preparation_lock(patience):
        with step("Migrating the database"):
            call_command("migrate", verbosity=0, interactive=False)
        with step("Checking the folders of files"):
            file_roots.claim(file_roots.roots(), adopt=adopt_files)
            require_own_key()
        with step("Preparing the embedding model"):
            call_command("prepare_models", verbosity=0)
            has_old_vectors = are_of_earlier_version()
        if has_old_vectors:
            with step("Making the vectors of memories anew with the new version of the model"):
                renew_vectors()
        if outdated_words().exists():
            with step("Updating keyword documents"):
                refresh_words()
        with step("Checking who belongs where"):
            memberships_review()
        with step("Collecting static files"):
            collect_static(Path(settings.STATIC_ROOT))
        with step("Creating the folder of notes"):
            notes_prepare()
        with step("Checking schedules and credentials"):
            schedules_ensure(specs=SCHEDULES)
            prices_ensure()
            return first_credentials()


def are_of_earlier_version() -> bool:
    """Return whether the stored vectors are of an earlier version of the delivered model.

    Raises EmbeddingSpaceMismatchError when they are of another model.
    """
    try:
        configured_space()
    except EmbeddingSpaceMismatchError as error:
        if error.is_new_version:
            return True
        raise
    return False


def renew_vectors() -> None:
    """Make every vector of memories with the present model; where it was cut off, the next start goes on."""
    embedder = get_embedder()
    with progress_bar("Embedding", reembed_needed(embedder)) as advance:
        reembed(embedder=embedder, progress=advance)


def require_own_key() -> None:
    """Raise HostUnfitError where other hosts sign with another key, and this one made its own."""
    config, here = settings.MEMORYHUB, socket.gethostname()
    if config.secret_key or not config.database_url:
        return
    mine = settings_facts()[KEY_NAME]
    theirs = {state.facts.get("settings", {}).get(KEY_NAME, mine) for state in live_processes() if state.host != here}
    if theirs - {mine}:
        raise file_roots.HostUnfitError(
            "Another host of this hub signs with another key, so whoever is signed in there is not known here. Set "
            "MEMORYHUB_SECRET_KEY to the same value on all hosts: that of the first, or the one in its data/secret_key."
        )


@contextmanager
def preparation_lock(patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Lock the database, so that machines which share it prepare it one after the other.

    Raises PreparationBusyError after `patience` seconds.
    """
    name = f"memoryhub prepare, process {os.getpid()} of {socket.gethostname()}"[:MAX_NAME]
    with connect_session({"connect_timeout": check.CONNECT_SECONDS}) as lock:
        lock.execute("SELECT set_config('application_name', %s, false)", (name,))
        if lock.execute("SELECT pg_try_advisory_lock(%s)", (PREPARATION_LOCK,)).fetchone() != (True,):
            say(f"  Waiting: the database is being prepared by {describe_holder(lock)}.", "yellow")
            lock.execute("SELECT set_config('lock_timeout', %s, false)", (f"{max(1, int(patience * 1_000))}ms",))
            try:
                lock.execute("SELECT pg_advisory_lock(%s)", (PREPARATION_LOCK,))
            except psycopg.errors.LockNotAvailable:
                raise PreparationBusyError(describe_holder(lock), patience) from None
        yield


def describe_holder(connection: Connection) -> str:
    """Return who has the lock of the preparation and since when, as far as the server says so."""
    row = connection.execute(_HOLDER, (PREPARATION_LOCK >> 32, PREPARATION_LOCK & 0xFFFF_FFFF)).fetchone()
    if row is None:
        return "a connection that has just ended"
    pid, name, address, since = row
    origin = f"from {address}, " if address else ""
    said = f"{name or 'a program without a name'} ({origin}connection {pid} of the server)"
    return f"{said}, since {since:%Y-%m-%d %H:%M:%S} UTC" if since else said


def first_credentials() -> Credentials:
    """Create the admin user when there is no user, and the operator's API key when there is no key.

    A hub that has neither is fresh: it gets a default user. Return only what was made here, not what the configuration
    contains.
    """
    config, users, notice = settings.MEMORYHUB, get_user_model().objects, None
    password = api_key = default_user = None
    with transaction.atomic():
        is_fresh = not users.exists() and not ApiKey.objects.exists()
        if not users.exists():
            password = secrets.token_urlsafe(15)
            users.create_superuser(username=config.admin_username, password=config.admin_password or password)
        if not ApiKey.objects.exists():
            _, api_key = services.key_create(
                name="operator",
                scope=Scope(),
                permission=Permission.OPERATOR,
                secret=config.api_key,
                actor="first start",
            )
    if is_fresh:
        default_user = choose_default_user(config)
    if config.admin_password:
        password = None
    if config.api_key:
        api_key = None
        if selectors.key_verify(config.api_key, utcnow(SYSTEM_CLOCK)) is None:
            notice = (
                "MEMORYHUB_API_KEY is used only at the first start, and this hub already has other keys: "
                "create a key in the admin or with POST /api/keys."
            )
    return Credentials(config.admin_username if password else None, password, api_key, default_user, notice)


def collect_static(root: Path) -> bool:
    """Copy static files to `root` when they are not those of the last time; return whether it did."""
    stamp, digest = root / STAMP, hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    fingerprint = digest.hexdigest()
    if stamp.exists() and stamp.read_text() == fingerprint:
        return False
    # Cleared first: collectstatic keeps a file that is newer than the one of an older version.
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(fingerprint)
    return True
