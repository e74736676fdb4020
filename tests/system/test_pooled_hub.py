"""A whole hub whose DATABASE_URL is a real PgBouncer, with and without MEMORYHUB_DIRECT_DATABASE_URL."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings

from memoryhub.postgres.server import EmbeddedDatabase
from tests.pgbouncer import PgBouncer, needs_pgbouncer
from tests.system.hub import Hub, wait_for
from tests.system.test_live_processes import ROOM, SIGN_IN, save, socket_to, wait_for_memories
from tests.system.test_web_processes import ask
from tests.system.test_web_server import KEY

pytestmark = [needs_pgbouncer, pytest.mark.xdist_group("another hub")]

MISSING = "MEMORYHUB_DIRECT_DATABASE_URL"
PROBLEMS = "from apps.monitor.problems import current_problems; print([one.code for one in current_problems()])"


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> EmbeddedDatabase:
    return EmbeddedDatabase(settings.MEMORYHUB.data_dir)


@pytest.fixture(scope="module")
def database(server: EmbeddedDatabase, worker_id: str) -> Iterator[str]:
    name = f"pooled_{worker_id}"
    with server.connect(dbname="postgres", user="postgres") as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER memoryhub")
    yield name
    with server.connect(dbname="postgres", user="postgres") as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def direct(database: str) -> dict[str, str]:
    """The setting that names the database itself."""
    host = quote(settings.DATABASES["default"]["HOST"], safe="")
    return {MISSING: f"postgresql://memoryhub@{host}/{database}"}


@pytest.fixture
def pooler(request: pytest.FixtureRequest, server: EmbeddedDatabase, database: str) -> Iterator[PgBouncer]:
    pooler = PgBouncer(server, mode=request.param)
    pooler.start(database)
    yield pooler
    pooler.end()


@pytest.fixture(scope="module")
def place(make_place: Any) -> Any:
    return make_place() / "hub"


@pytest.fixture
def hub(place: Any, pooler: PgBouncer, database: str) -> Iterator[Hub]:
    hub = Hub(place, DATABASE_URL=pooler.url(database), MEMORYHUB_API_KEY=KEY)
    hub.key = KEY
    yield hub
    hub.end()


def locks_left(server: EmbeddedDatabase, database: str) -> list[Any]:
    with server.connect(dbname=database, user="postgres") as connection:
        return connection.execute(
            "SELECT pid, objid FROM pg_locks WHERE locktype = 'advisory' "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        ).fetchall()


def hears(hub: Hub) -> None:
    """Save a memory, of which a socket hears."""
    session = hub.shell(SIGN_IN.replace('"operator"', f'"operator{hub.port}"'))
    with socket_to(hub, session) as socket:
        save(hub)
        wait_for_memories(socket, 2 + ROOM)


@pytest.mark.parametrize("pooler", ["transaction"], indirect=True)
def test_start_is_refused_where_sessions_are_missing(hub: Hub, server: EmbeddedDatabase, database: str) -> None:
    for command in ("prepare", "up"):
        refused = hub.command(command)
        assert refused.returncode != 0
        assert f"set {MISSING} to the address of the database itself" in refused.stdout + refused.stderr
        assert "Traceback" not in refused.stderr
    assert locks_left(server, database) == []


@pytest.mark.parametrize(("pooler", "is_direct"), [("session", False), ("transaction", True)], indirect=["pooler"])
def test_database_is_prepared_twice(
    hub: Hub, is_direct: bool, direct: dict[str, str], server: EmbeddedDatabase, database: str
) -> None:
    for _ in range(2):
        done = hub.command("prepare", **(direct if is_direct else {}))
        assert done.returncode == 0, done.stderr
        assert locks_left(server, database) == []


@pytest.mark.parametrize("pooler", ["transaction"], indirect=True)
def test_hub_past_its_pooler_is_live_and_works_off_its_jobs(hub: Hub, direct: dict[str, str]) -> None:
    hub.start(**direct)
    hears(hub)
    assert ask(hub, "POST", "/api/memory/main/entries", {"user_id": "ana", "entry": "buys tea"})[0] in {200, 201}
    delivered = "from apps.events.models import Delivery; print(Delivery.objects.exclude(status='delivered').count())"
    hub.environment |= direct
    wait_for(lambda: hub.shell(delivered) == "0", "deliveries")
    codes = hub.shell(PROBLEMS)
    assert "sessions_missing" not in codes
    assert "hosts_differ" not in codes


@pytest.mark.parametrize("pooler", ["session"], indirect=True)
def test_pooler_that_changes_its_mode_is_a_problem_on_now(hub: Hub, pooler: PgBouncer, database: str) -> None:
    hub.start()
    hears(hub)
    pooler.end()
    pooler.change_mode("transaction")
    pooler.start(database)
    wait_for(lambda: "sessions_missing" in hub.shell(PROBLEMS), "the problem")
    assert MISSING in (hub.data_dir / "logs" / "web.log").read_text()
