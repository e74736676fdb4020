import os
import pwd
import signal
import stat
import subprocess
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from memoryhub.postgres import accounts
from memoryhub.postgres.server import (
    EmbeddedDatabase,
    EmbeddedDatabaseError,
    database_settings,
    socket_directory,
)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


@pytest.fixture(scope="module")
def running(make_place):
    database = EmbeddedDatabase(make_place(), durable=False)
    database.start()
    yield database
    database.stop()


@pytest.fixture
def database(running):
    """A running server whose process a test may kill; it starts again for the next one."""
    running.start()
    return running


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ask(database: EmbeddedDatabase, query: str):
    with database.connect() as connection:
        return connection.execute(query).fetchone()


def test_settings_are_computed_without_touching_disk(tmp_path):
    settings = database_settings(tmp_path / "hub")
    assert settings["NAME"] == "memoryhub"
    assert settings["ENGINE"] == "django.db.backends.postgresql"
    assert not (tmp_path / "hub").exists()


def test_socket_path_too_long_for_kernel_moves_to_short_private_place(tmp_path):
    place = socket_directory(tmp_path / ("long" * 40))
    assert len(str(place / ".s.PGSQL.5432")) < 100
    assert place == socket_directory(tmp_path / ("long" * 40))
    assert place != socket_directory(tmp_path / ("long" * 41))


def test_started_server_has_database_and_pgvector(database):
    version = ask(database, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0]
    assert tuple(map(int, version.split("."))) >= (0, 8)


def test_the_application_is_no_superuser(database):
    assert ask(database, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == (False,)


def test_text_is_utf8_with_collation_that_is_same_everywhere(database):
    row = ask(
        database,
        "SELECT pg_encoding_to_char(encoding), datlocprovider, datlocale FROM pg_database "
        "WHERE datname = current_database()",
    )
    assert row == ("UTF8", "b", "C.UTF-8")


def test_pages_carry_checksums(database):
    assert ask(database, "SHOW data_checksums") == ("on",)


def test_server_for_real_data_waits_for_disk(tmp_path):
    database = EmbeddedDatabase(tmp_path / "durable")
    database.start()
    try:
        assert ask(database, "SHOW fsync") == ("on",)
        assert ask(database, "SHOW synchronous_commit") == ("on",)
    finally:
        database.stop()


def test_the_server_listens_on_no_tcp_port(database):
    # Its children inherit what it listens on, and come and go.
    connections = psutil.Process(database.pid).net_connections(kind="inet")
    assert [connection for connection in connections if connection.status == psutil.CONN_LISTEN] == []
    assert ask(database, "SHOW listen_addresses") == ("",)


def test_only_owner_may_enter_directories_and_socket(database):
    socket_dir = socket_directory(database.data_dir)
    account = pwd.getpwnam(accounts.server_account_name(database.pgdata))
    for path in (database.pgdata, socket_dir, socket_dir / ".s.PGSQL.5432"):
        status = path.stat()
        assert stat.S_IMODE(status.st_mode) == 0o700
        assert status.st_uid == account.pw_uid
    assert stat.S_IMODE(database.data_dir.stat().st_mode) & 0o067 == 0


def connect_as_nobody(database: EmbeddedDatabase) -> subprocess.CompletedProcess:
    psql = next(Path(psutil.Process(database.pid).exe()).parent.glob("psql"))
    nobody = pwd.getpwnam("nobody")
    return subprocess.run(
        [str(psql), "-h", str(socket_directory(database.data_dir)), "-U", "memoryhub", "-c", "SELECT 1"],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


@as_root
def test_another_user_does_not_reach_the_socket(database):
    answer = connect_as_nobody(database)
    assert answer.returncode != 0
    assert "Permission denied" in answer.stderr


@as_root
def test_another_user_who_reaches_socket_is_refused_by_server(tmp_path):
    path = Path("/tmp") / f"memoryhub-open-{os.getpid()}"
    database = EmbeddedDatabase(path, durable=False)
    database.start()
    try:
        for opened in (path, path / "run", path / "run" / "pg", path / "run" / "pg" / ".s.PGSQL.5432"):
            opened.chmod(0o777)
        answer = connect_as_nobody(database)
    finally:
        database.stop()
        subprocess.run(["rm", "-rf", str(path)], check=True)
    assert answer.returncode != 0
    assert "Peer authentication failed" in answer.stderr


@as_root
def test_closed_parent_directory_is_opened_for_passing_through_and_nothing_more(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    accounts.open_way_to(closed / "hub")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o701


def test_server_that_is_not_ours_is_not_talked_to(database):
    settings = database_settings(database.data_dir)
    with pytest.raises(psycopg.OperationalError, match="requirepeer"):
        psycopg.connect(host=settings["HOST"], dbname="memoryhub", user="memoryhub", requirepeer="daemon")


def test_directory_that_somebody_else_put_in_place_of_socket_is_refused(tmp_path):
    target = tmp_path / "elsewhere"
    target.mkdir()
    (tmp_path / "link").symlink_to(target)
    account = accounts.server_account(tmp_path / "postgres")
    with pytest.raises(accounts.AccountError, match="remove it"):
        accounts.own_private_directory(tmp_path / "link", account)


def test_starting_a_running_server_adopts_it(database):
    pid = database.pid
    again = EmbeddedDatabase(database.data_dir, durable=False)
    again.start()
    assert again.pid == pid


def test_stopping_ends_server_and_stopping_again_does_nothing(database):
    pid = database.pid
    database.stop()
    assert not database.is_running()
    wait_until_gone(pid)
    database.stop()


def test_client_that_stays_does_not_keep_server_from_stopping(database):
    with database.connect() as connection:
        began = time.monotonic()
        database.stop()
        assert time.monotonic() - began < 5
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_killed_server_starts_again_with_what_was_committed(database):
    with database.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    pid = database.pid
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    assert not database.is_running()
    database.start()
    assert ask(database, "SELECT number FROM kept") == (7,)


def test_stale_pid_that_another_program_has_by_now_does_not_stop_start(database):
    database.stop()
    with subprocess.Popen(["sleep", "60"]) as stranger:
        text = f"{stranger.pid}\n{database.pgdata}\n1700000000\n5432\n\n\n  1 1\nready   \n"
        (database.pgdata / "postmaster.pid").write_text(text)
        assert not database.is_running()
        database.start()
        assert database.pid != stranger.pid
        assert stranger.poll() is None
        stranger.kill()


def test_what_a_killed_initdb_left_is_replaced(tmp_path):
    (tmp_path / "postgres.new").mkdir()
    (tmp_path / "postgres.new" / "PG_VERSION").write_text("18\n")
    database = EmbeddedDatabase(tmp_path, durable=False)
    database.start()
    database.stop()
    assert not (tmp_path / "postgres.new").exists()


def test_foreign_directory_in_place_of_cluster_is_left_alone(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "thesis.txt").write_text("mine")
    with pytest.raises(EmbeddedDatabaseError, match="move it away"):
        EmbeddedDatabase(tmp_path, durable=False).start()
    assert (tmp_path / "postgres" / "thesis.txt").read_text() == "mine"


def test_a_cluster_of_another_version_is_named(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedDatabaseError, match="PostgreSQL 17"):
        EmbeddedDatabase(tmp_path, durable=False).start()


def test_start_that_fails_says_what_server_said(tmp_path):
    database = EmbeddedDatabase(tmp_path, durable=False)
    database.start()
    database.stop()
    with (database.pgdata / "postgresql.conf").open("a") as file:
        file.write("work_mem = 'plenty'\n")
    with pytest.raises(EmbeddedDatabaseError, match=r"work_mem|configuration file"):
        database.start()


def test_what_people_store_never_reaches_servers_logs(database):
    secret = "the-cat-is-called-Ziggy"
    with database.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS said (content text UNIQUE CHECK (content <> 'x'), n int)")
        connection.execute("INSERT INTO said VALUES (%s, 1)", (secret,))
        for query in (
            "INSERT INTO said VALUES (%s, 1)",
            "SELECT %s::text::integer",
            "SELECT %s FROM nowhere",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(query, (secret,))
    database.stop()
    logs = b"".join(path.read_bytes() for path in (database.pgdata / "log").iterdir())
    assert b"database system is shut down" in logs
    assert secret.encode() not in logs


def test_old_log_files_are_removed(tmp_path):
    database = EmbeddedDatabase(tmp_path)
    (database.pgdata / "log").mkdir(parents=True)
    for day in range(10, 20):
        (database.pgdata / "log" / f"postgresql-202601{day}-000000.log").touch()
    database.prune_logs(keep=3)
    left = sorted(path.name for path in (database.pgdata / "log").iterdir())
    assert left == [f"postgresql-202601{day}-000000.log" for day in (17, 18, 19)]
