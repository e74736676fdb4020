"""`manage.py prepare` on a server that DATABASE_URL names, as people do who start the servers themselves."""

from dataclasses import replace
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings

from apps.llm.pricing.defaults import KNOWN_PRICES
from memoryhub.config.hub import read_config
from memoryhub.postgres.server import EmbeddedDatabase
from memoryhub.process import prepare
from memoryhub.process.startup import Credentials
from tests.system.hub import Hub

GIVEN_KEY = "given-by-the-operator-0123456789abcdef"
GIVEN = {"MEMORYHUB_API_KEY": GIVEN_KEY, "MEMORYHUB_ADMIN_PASSWORD": "tall-green-kettle"}


@pytest.fixture(scope="module")
def server():
    return EmbeddedDatabase(settings.MEMORYHUB.data_dir)


@pytest.fixture(scope="module")
def hub(server, make_place, worker_id):
    """A place for commands on an empty database of a server that was there before."""
    name = f"chosen_{worker_id}"
    with server.connect(dbname="postgres", user="postgres") as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER memoryhub")
    host = quote(settings.DATABASES["default"]["HOST"], safe="")
    url = f"postgresql://memoryhub@{host}/{name}"
    yield Hub(make_place() / "hub", DATABASE_URL=url)
    with server.connect(dbname="postgres", user="postgres") as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def first(hub):
    """What the first preparation of the empty database said."""
    done = hub.command("prepare", **GIVEN)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_preparing_makes_given_credentials_once_and_prints_none_of_them(hub, first):
    assert "First start" not in first
    assert GIVEN_KEY not in first
    assert "tall-green-kettle" not in first
    assert not (hub.data_dir / "postgres").exists()

    again = hub.command("prepare", **GIVEN)
    assert again.returncode == 0, again.stderr
    assert "MEMORYHUB_API_KEY" not in again.stdout

    other = hub.command("prepare", MEMORYHUB_API_KEY=GIVEN_KEY[::-1])
    assert "MEMORYHUB_API_KEY is used only at the first start" in other.stdout
    assert GIVEN_KEY[::-1] not in other.stdout


@pytest.mark.usefixtures("first")
def test_preparing_adds_the_prices_of_models(server, worker_id):
    with server.connect(dbname=f"chosen_{worker_id}", user="postgres") as connection:
        [count] = connection.execute("SELECT count(*) FROM llm_price").fetchone()
    assert count == len(KNOWN_PRICES)


@pytest.fixture
def own_directory(settings, tmp_path):
    """Use a data directory of its own, in which no default user was chosen."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, data_dir=tmp_path)
    return tmp_path


@pytest.mark.django_db
def test_fresh_hub_has_the_owner_as_default_user(own_directory, monkeypatch):
    """Spec 001, CRUD 操作: a bare GET /api/memory/main is answered on a fresh hub, and `up` says whose memory it is."""
    first = prepare.first_credentials()
    assert first.default_user == "owner"
    assert prepare.first_credentials().default_user is None
    monkeypatch.setenv("MEMORYHUB_DATA_DIR", str(own_directory))
    assert read_config().default_user == "owner"
    for name, user in (("ana", "ana"), ("", None)):
        monkeypatch.setenv("MEMORYHUB_DEFAULT_USER", name)
        assert read_config().default_user == user


@pytest.mark.django_db
def test_hub_that_was_in_use_gets_no_default_user(own_directory):
    from apps.core.models import ApiKey

    prepare.first_credentials()
    (own_directory / "default_user").unlink()
    ApiKey.objects.all().delete()
    assert prepare.first_credentials().default_user is None


@pytest.mark.django_db
@pytest.mark.usefixtures("own_directory")
def test_random_credentials_are_returned_first_time_and_never_again():
    first = prepare.first_credentials()
    assert first.admin_username == "admin"
    assert len(first.admin_password) >= 16
    assert len(first.api_key) >= 32
    assert prepare.first_credentials() == Credentials()


@pytest.mark.django_db
@pytest.mark.usefixtures("own_directory")
def test_a_revoked_first_key_is_not_made_again():
    from apps.core.models import ApiKey
    from apps.core.services import key_revoke

    prepare.first_credentials()
    key_revoke(uuid=ApiKey.objects.get().uuid)
    assert prepare.first_credentials().api_key is None


def test_static_files_are_collected_again_only_when_they_changed(tmp_path, settings):
    settings.STATIC_ROOT = tmp_path / "static"
    source = tmp_path / "source"
    source.mkdir()
    (source / "hub.css").write_text("a {}")
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    from django.contrib.staticfiles import finders

    finders.get_finder.cache_clear()
    try:
        assert prepare.collect_static(settings.STATIC_ROOT)
        assert not prepare.collect_static(settings.STATIC_ROOT)
        (source / "hub.css").write_text("a { color: red }")
        assert prepare.collect_static(settings.STATIC_ROOT)
        assert (settings.STATIC_ROOT / "hub.css").read_text() == "a { color: red }"
    finally:
        finders.get_finder.cache_clear()


@pytest.mark.django_db(transaction=True)
def test_two_that_prepare_same_database_wait_for_each_other(server):
    from django.db import connection

    name = connection.settings_dict["NAME"]
    with prepare.preparation_lock(), server.connect(dbname=name) as other:
        other.execute("SET lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("SELECT pg_advisory_lock(%s)", (prepare.PREPARATION_LOCK,))


@pytest.mark.django_db(transaction=True)
def test_who_has_waited_in_vain_prepares_nothing(server):
    from django.db import connection

    with server.connect(dbname=connection.settings_dict["NAME"]) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (prepare.PREPARATION_LOCK,))
        with pytest.raises(prepare.PreparationBusyError), prepare.preparation_lock(0.2):
            pass
