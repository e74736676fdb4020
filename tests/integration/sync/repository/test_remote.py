"""Repositories on other machines, by real HTTP: limits, secrets, and servers that behave badly."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.sync.domain.errors import CommitGoneError, KnowledgeUnavailableError
from apps.sync.repository import fetch_process
from apps.sync.repository.fetch_process import Callbacks, SecretMissingError, SecretRefusedError
from apps.sync.repository.reader import open_reader
from apps.sync.repository.source import fetch_secret
from tests.integration.sync.repository.git_server import PASSWORD, USER, git_server, needs_git
from tests.integration.sync.repository.repositories import Origin, files_at, source_of, text_of

pytestmark = needs_git


@pytest.fixture
def server(root: Path) -> Iterator[str]:
    """Return the address of a server of the repositories below the root."""
    with git_server(root) as address:
        yield address


def limit(settings: Settings, **limits: object) -> None:
    """Set limits of reading."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, **limits))  # type: ignore[arg-type]


def refusal(location: str, **values: object) -> str:
    """Return why a source cannot be fetched."""
    with open_reader(source_of(location, **values)) as reader, pytest.raises(KnowledgeUnavailableError) as caught:
        reader.head()
    return caught.value.detail


def test_a_repository_is_fetched_and_followed(origin: Origin, server: str) -> None:
    old = origin.commit({"a.md": "a", "b.md": "b"})
    source = source_of(f"{server}/open/origin.git")
    with open_reader(source) as reader:
        assert reader.head() == old
        assert files_at(reader, old) == {"a.md": "ok", "b.md": "ok"}
    new = origin.commit({"a.md": "changed", "b.md": None})
    with open_reader(source) as reader:
        assert reader.head() == new
        assert reader.touched(old, new).paths == {"a.md", "b.md"}
        assert text_of(reader, new, "a.md") == "changed"
    origin.reset(old)
    forced = origin.commit({"c.md": "c"})
    with open_reader(source) as reader:
        assert reader.head() == forced
        with pytest.raises(CommitGoneError):
            reader.touched(new, forced)
        assert reader.read_at("a.md", new) == b"changed"


def test_a_server_that_is_gone_leaves_texts_readable(origin: Origin, root: Path) -> None:
    commit = origin.commit({"a.md": "a"})
    with git_server(root) as address:
        source = source_of(f"{address}/open/origin.git")
        with open_reader(source) as reader:
            reader.head()
    with open_reader(source) as reader:
        with pytest.raises(KnowledgeUnavailableError, match="cannot be fetched: failed to connect"):
            reader.head()
        assert reader.read_at("a.md", commit) == b"a"


def test_secrets_of_the_environment_and_of_files(origin: Origin, server: str, settings: Settings, root: Path) -> None:
    commit = origin.commit({"a.md": "a"})
    closed = f"{server}/closed/origin.git"
    assert "asks for a secret" in refusal(closed)
    assert "no secret forge: set MEMORYHUB_SYNC_SECRET_FORGE" in refusal(closed, credentials="forge")
    limit(settings, secrets={"FORGE": f"{USER}:wrong-one", "GOOD": f"{USER}:{PASSWORD}"})
    wrong = refusal(closed, credentials="forge")
    assert "refused the secret" in wrong
    assert "wrong-one" not in wrong
    settings.SYNC_SECRETS_DIR = root
    (root / "of-a-file").write_text(f"{USER}:{PASSWORD}\n")
    for name in ("good", "of-a-file"):
        with open_reader(source_of(closed, credentials=name)) as reader:
            assert reader.head() == commit


def test_a_redirection_to_another_server_is_not_followed(origin: Origin, server: str, root: Path) -> None:
    commit = origin.commit({"a.md": "a"})
    with git_server(root, elsewhere=server.replace("127.0.0.1", "localhost")) as address:
        assert "redirects to another one" in refusal(f"{address}/moved/origin.git")
    with open_reader(source_of(f"{server}/moved/origin.git")) as reader:
        assert reader.head() == commit


@pytest.mark.parametrize("kind", ["moved", "closed-moved"])
def test_another_port_of_the_host_is_another_server(kind: str, origin: Origin, root: Path, settings: Settings) -> None:
    origin.commit({"a.md": "a"})
    limit(settings, secrets={"GOOD": f"{USER}:{PASSWORD}"})
    asked: list[tuple[str, str]] = []
    with git_server(root, asked=asked) as other, git_server(root, elsewhere=other) as address:
        assert "redirects to another one" in refusal(f"{address}/{kind}/origin.git", credentials="good")
    assert asked == []


def test_a_proxy_of_the_environment_is_asked(origin: Origin, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    with git_server(root, asked=asked) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        assert "cannot be fetched" in refusal("http://localhost:1/open/origin.git")
    assert [path.partition("?")[0] for path, _ in asked] == ["http://localhost:1/open/origin.git/info/refs"]


def test_what_does_not_exist_is_said(origin: Origin, server: str) -> None:
    origin.commit({"a.md": "a"})
    assert "no such repository" in refusal(f"{server}/open/none.git")
    assert "no such branch" in refusal(f"{server}/open/origin.git", branch="none")
    assert "no such branch" in refusal(f"{server}/open/origin.git", branch="a:b")


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_server_that_sends_nothing_or_slowly_is_given_up(kind: str, server: str, settings: Settings) -> None:
    limit(settings, fetch_seconds=1.0)
    began = time.monotonic()
    assert "within 1 seconds" in refusal(f"{server}/{kind}/origin.git")
    assert time.monotonic() - began < 10


def test_more_than_may_be_received_is_refused(origin: Origin, server: str, settings: Settings) -> None:
    origin.commit({"a.md": os.urandom(1_500_000)})
    limit(settings, max_mb=1)
    source = source_of(f"{server}/open/origin.git")
    assert "more than 1 MB" in refusal(source.location)
    assert not list(Path(settings.SYNC_DIR).glob("*.git*"))


def test_sources_of_one_repository_share_its_copy(origin: Origin, server: str, settings: Settings) -> None:
    """Issue: one clone for several sources; each reads its own folder, and follows the branch by itself."""
    old = origin.commit({"adr/a.md": "a", "specs/b.md": "b"})
    location = f"{server}/open/origin.git"
    sources = [source_of(location, folder=folder) for folder in ("adr", "specs")]
    for source, path in zip(sources, ("adr/a.md", "specs/b.md"), strict=True):
        with open_reader(source) as reader:
            assert files_at(reader, reader.head()) == {path: "ok"}
    new = origin.commit({"adr/a.md": "changed"})
    for source, paths in zip(sources, ({"adr/a.md"}, set()), strict=True):
        with open_reader(source) as reader:
            assert reader.head() == new
            assert reader.touched(old, new).paths == paths
    assert len(list(Path(settings.SYNC_DIR).glob("*.git"))) == 1


def test_a_copy_of_its_own_becomes_the_shared_one(origin: Origin, server: str, settings: Settings) -> None:
    """Former versions of the hub made a copy for each source."""
    commit = origin.commit({"a.md": "a"})
    source = source_of(f"{server}/open/origin.git")
    with open_reader(source) as reader:
        reader.head()
    [copy] = Path(settings.SYNC_DIR).glob("*.git")
    copy.rename(copy.with_name(f"{source.uuid}.git"))
    made_at = copy.with_name(f"{source.uuid}.git").stat().st_ino
    with open_reader(source) as reader:
        assert reader.head() == commit
    [adopted] = Path(settings.SYNC_DIR).glob("*.git")
    assert (adopted.name, adopted.stat().st_ino) == (copy.name, made_at)


def test_a_certificate_that_is_not_trusted_is_refused(origin: Origin, root: Path, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: it makes the certificate")
    origin.commit({"a.md": "a"})
    made = tmp_path / "server.pem"
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
        f"-keyout {made} -out {tmp_path / 'only.pem'}".split(),
        check=True,
        capture_output=True,
    )
    made.write_text(made.read_text() + (tmp_path / "only.pem").read_text())
    with git_server(root, made) as address, pytest.MonkeyPatch.context() as patch:
        assert "certificate of the server is not trusted" in refusal(f"{address}/open/origin.git")
        patch.setenv("SSL_CERT_FILE", str(tmp_path / "only.pem"))
        with open_reader(source_of(f"{address}/open/origin.git")) as reader:
            reader.head()


def test_a_key_is_offered_once_and_to_ssh_only(settings: Settings) -> None:
    from pygit2.enums import CredentialType

    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----"
    limit(settings, secrets={"KEY": key, "TOKEN": "t0ken"})
    assert fetch_secret("token") == {"kind": "password", "user": "git", "password": "t0ken"}
    callbacks = Callbacks(fetch_secret("key"), "git", 1)
    assert callbacks.credentials("", None, CredentialType.USERNAME).credential_tuple == ("git",)
    offered = callbacks.credentials("", "git", CredentialType.SSH_KEY | CredentialType.SSH_MEMORY)
    assert offered.credential_tuple[2] == f"{key}\n"
    with pytest.raises(SecretRefusedError):
        callbacks.credentials("", "git", CredentialType.SSH_KEY | CredentialType.SSH_MEMORY)
    with pytest.raises(SecretMissingError):
        Callbacks(fetch_secret("key"), "git", 1).credentials("", None, CredentialType.USERPASS_PLAINTEXT)
    with pytest.raises(SecretMissingError):
        Callbacks(fetch_secret("token"), "git", 1).credentials("", None, CredentialType.SSH_MEMORY)


def test_the_process_gets_nothing_of_the_hubs_environment(origin: Origin, server: str, tmp_path: Path) -> None:
    """Neither database nor secrets; and the program needs no module of the hub."""
    program = Path(fetch_process.__file__).read_text()
    assert "django" not in program.replace("without Django", "")
    done = subprocess.run(
        [sys.executable, "-I", "-B", fetch_process.__file__], input=b"{", env={}, capture_output=True, check=False
    )
    assert b"JSONDecodeError" in done.stderr
