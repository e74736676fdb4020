from pathlib import Path
from urllib.parse import quote

import dj_database_url
import psycopg
import pytest
from django.conf import settings

from memoryhub.postgres.check import DatabaseUnfitError, judge, require_fit_server
from memoryhub.postgres.server import EmbeddedDatabase


@pytest.mark.parametrize(
    "facts",
    [
        (150000, "0.8.0", "0.8.0"),
        (180004, None, "0.8.5"),
        (160001, "0.10.1", "0.10.1"),
        (160001, "1.0.0", None),
    ],
)
def test_server_that_can_hold_memories_is_accepted(facts):
    assert judge(*facts) is None


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ((140011, "0.8.0", "0.8.0"), "PostgreSQL 14; version 15"),
        ((150000, None, None), "without pgvector"),
        ((150000, None, "0.7.4"), "pgvector 0.7.4; version 0.8"),
        ((150000, "0.7.4", "0.7.4"), "pgvector 0.7.4; version 0.8"),
        ((150000, "0.5.1", "0.8.1"), "ALTER EXTENSION vector UPDATE"),
    ],
)
def test_server_that_cannot_is_told_what_it_lacks(facts, words):
    assert words in judge(*facts)


@pytest.fixture(scope="module")
def server():
    return EmbeddedDatabase(settings.MEMORYHUB.data_dir)


@pytest.fixture
def fresh(server):
    """Makes a database on the test server, and removes it."""
    made = []

    def make(name: str, *statements: str) -> dict:
        with server.connect(dbname="postgres", user="postgres") as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER memoryhub TEMPLATE template0")
            made.append(name)
            for statement in statements:
                connection.execute(statement)
        return {**settings.DATABASES["default"], "NAME": name}

    yield make
    with server.connect(dbname="postgres", user="postgres") as connection:
        for name in made:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_the_embedded_server_passes(server):
    require_fit_server({**settings.DATABASES["default"], "NAME": "memoryhub"})


def test_a_server_without_pgvector_is_refused(fresh):
    bare = fresh("bare", "ALTER DATABASE bare SET extension_control_path = '/nonexistent'")
    with pytest.raises(DatabaseUnfitError, match="without pgvector"):
        require_fit_server(bare)


def test_pgvector_that_only_superuser_may_install_is_explained(fresh):
    with pytest.raises(DatabaseUnfitError, match="have a superuser run `CREATE EXTENSION vector`"):
        require_fit_server(fresh("untrusted"))


def test_pgvector_is_installed_where_the_role_may(fresh):
    place = {**fresh("installable"), "USER": "postgres"}
    require_fit_server(place)
    parameters = {"host": place["HOST"], "dbname": "installable", "user": "postgres"}
    with psycopg.connect(**parameters) as connection:
        query = "SELECT count(*) FROM pg_extension WHERE extname = 'vector'"
        assert connection.execute(query).fetchone() == (1,)


def test_server_that_does_not_answer_is_named_without_its_password():
    place = dj_database_url.parse("postgresql://someone:s3cret-word@127.0.0.1:9/hub")
    with pytest.raises(DatabaseUnfitError, match="DATABASE_URL") as caught:
        require_fit_server(dict(place))
    assert "s3cret-word" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


def test_socket_directory_in_url_is_understood(server):
    place = settings.DATABASES["default"]["HOST"]
    parsed = dj_database_url.parse(f"postgresql://memoryhub@{quote(str(Path(place)), safe='')}/memoryhub")
    require_fit_server(dict(parsed))
