"""A folder in a bucket, and the parts of its files that a machine keeps: a real server of S3's protocol answers."""

import hashlib
import io
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from apps.core.object_storage import bucket as storage
from apps.core.object_storage.bucket import BucketFolder, StoreError
from apps.core.object_storage.cached import PART_BYTES, CachedFile, PartCache
from tests.buckets import Wire, use_store
from tests.buckets import bucket as bucket
from tests.buckets import store_port as store_port
from tests.buckets import wire as wire

CONTENT = os.urandom(3 * PART_BYTES + 1_000)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def put(folder: BucketFolder, name: str, content: bytes = CONTENT) -> None:
    folder.put_new(name, io.BytesIO(content), digest(content))


class Counting(BucketFolder):
    """A folder that notes what is read of it."""

    reads: list[tuple[int, int]] = []

    def read(self, name: str, offset: int, size: int) -> tuple[bytes, int]:
        self.reads.append((offset // PART_BYTES, size // PART_BYTES))
        return super().read(name, offset, size)


@pytest.fixture
def counting(bucket: BucketFolder) -> Iterator[Counting]:
    Counting.reads.clear()
    yield Counting(bucket.bucket, bucket.prefix)
    Counting.reads.clear()


def test_a_file_comes_back_as_it_was_put(bucket: BucketFolder) -> None:
    put(bucket, "a")
    assert b"".join(bucket.pieces("a")) == CONTENT
    assert bucket.read("a", 5, 10) == (CONTENT[5:15], len(CONTENT))
    assert bucket.read("a", len(CONTENT) - 3, 10) == (CONTENT[-3:], len(CONTENT))
    assert bucket.names() == ["a"]
    assert BucketFolder(bucket.bucket, "").names() == ["files/a"]


def test_an_empty_file_is_one(bucket: BucketFolder, tmp_path: Path) -> None:
    put(bucket, "a", b"")
    assert (bucket.exists("a"), bucket.read("a", 0, 5), b"".join(bucket.pieces("a"))) == (True, (b"", 0), b"")
    assert CachedFile(bucket, "a", PartCache(tmp_path / "cache", 10**9)).open().size == 0
    assert bucket.remove("a")


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL_S3", "AWS_WEB_IDENTITY_TOKEN_FILE"])
def test_what_is_set_wrongly_is_no_missing_file(
    bucket: BucketFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    if variable == "AWS_WEB_IDENTITY_TOKEN_FILE":
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/hub")
    monkeypatch.setenv(variable, str(tmp_path / "none"))
    storage.forget_client()
    with pytest.raises(StoreError, match=r"cannot be asked|does not answer"):
        bucket.read("a", 0, 1)


def test_a_name_is_given_once(bucket: BucketFolder) -> None:
    put(bucket, "a")
    put(bucket, "a")  # as after an answer that was lost
    with pytest.raises(FileExistsError):
        put(bucket, "a", b"other")
    assert bucket.digest("a") == digest(CONTENT)


def test_a_file_that_comes_back_otherwise_is_refused(bucket: BucketFolder) -> None:
    with pytest.raises(StoreError, match="gave back other bytes"):
        bucket.put_new("a", io.BytesIO(CONTENT), digest(b"other"))


def test_files_are_moved_and_removed(bucket: BucketFolder) -> None:
    put(bucket, "a", b"one")
    bucket.move("a", "quarantine/a")
    assert bucket.names() == ["quarantine/a"]
    assert not bucket.remove("a")
    assert bucket.remove("quarantine/a")
    for call in (lambda: bucket.move("a", "b"), lambda: bucket.read("a", 0, 1), lambda: bucket.digest("a")):
        with pytest.raises(FileNotFoundError):
            call()


def test_a_bucket_that_is_not_there_is_no_missing_file(bucket: BucketFolder) -> None:
    wrong = BucketFolder(f"{bucket.bucket}-not", "")
    calls = (wrong.names, lambda: wrong.read("a", 0, 1), lambda: wrong.read_text("a"), lambda: wrong.exists("a"))
    for call in (*calls, lambda: put(wrong, "a"), lambda: wrong.remove("a")):
        with pytest.raises(StoreError, match="no such bucket"):
            call()


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (403, "InvalidAccessKeyId", "refuses this hub .InvalidAccessKeyId"),
        (403, "AccessDenied", "refuses this hub"),
        (507, "XMinioStorageFull", "is full"),
        (503, "SlowDown", "answers 503 .SlowDown"),
        (501, "NotImplemented", "answers 501 .NotImplemented"),
    ],
)
def test_what_a_store_refuses_is_said(status: int, code: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        use_store(monkeypatch, server.server_address[1])
        with pytest.raises(StoreError, match=said):
            put(BucketFolder("hub", ""), "a", b"one")
        server.shutdown()
    storage.forget_client()


def test_a_store_that_is_away_or_slow_is_given_up(
    bucket: BucketFolder, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "READ_SECONDS", 0.5)
    storage.forget_client()
    put(bucket, "a", b"one")
    wire.cut()
    with pytest.raises(StoreError, match="does not answer"):
        bucket.read("a", 0, 1)
    wire.mend()
    assert bucket.exists("a")
    wire.hold()
    with pytest.raises(StoreError, match=r"does not answer .ReadTimeoutError"):
        bucket.read("a", 0, 1)
    wire.mend()


def test_no_credentials_are_said(bucket: BucketFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    storage.forget_client()
    with pytest.raises(StoreError, match="no credentials"):
        bucket.names()


def test_parts_are_fetched_once_and_at_once(counting: Counting, tmp_path: Path) -> None:
    put(counting, "a")
    Counting.reads.clear()
    file = CachedFile(counting, "a", PartCache(tmp_path / "cache", 10**9)).open()
    assert (file.size, Counting.reads) == (len(CONTENT), [(0, 1)])
    assert file.read(PART_BYTES - 5, 2 * PART_BYTES) == CONTENT[PART_BYTES - 5 : 3 * PART_BYTES - 5]
    assert file.read(3 * PART_BYTES, 1_000) == CONTENT[3 * PART_BYTES :]
    assert Counting.reads[1:] == [(1, 2), (3, 1)]
    Counting.reads.clear()
    again = CachedFile(counting, "a", PartCache(tmp_path / "cache", 10**9)).open()
    assert again.read(0, len(CONTENT)) == CONTENT
    assert Counting.reads == [], "another process of this machine finds them"


@pytest.mark.parametrize("damage", [b"", b"x" * 100, None])
def test_a_damaged_part_is_asked_for_again(counting: Counting, tmp_path: Path, damage: bytes | None) -> None:
    put(counting, "a")
    cache = PartCache(tmp_path / "cache", 10**9)
    assert CachedFile(counting, "a", cache).open().read(0, len(CONTENT)) == CONTENT
    part = tmp_path / "cache" / "a" / "1"
    part.write_bytes(part.read_bytes()[:-1] + b"\0" if damage is None else damage)
    Counting.reads.clear()
    assert CachedFile(counting, "a", cache).open().read(0, len(CONTENT)) == CONTENT
    assert Counting.reads == [(1, 1)]


def test_what_is_kept_is_bounded_and_what_was_read_last_stays(bucket: BucketFolder, tmp_path: Path) -> None:
    names = [f"file-{number}" for number in range(6)]
    for name in names:
        put(bucket, name)
    cache = PartCache(tmp_path / "cache", 10 * PART_BYTES)
    for age, name in enumerate(names):
        assert CachedFile(bucket, name, cache).open().read(0, len(CONTENT)) == CONTENT
        for part in (tmp_path / "cache" / name).iterdir():
            os.utime(part, (1_000 + age, 1_000 + age))
    kept = sorted((tmp_path / "cache").glob("*/*"))
    assert sum(part.stat().st_size for part in kept) <= 11 * PART_BYTES
    assert {part.parent.name for part in kept} >= {names[-1]}
    assert not {part.parent.name for part in kept} & {names[0]}


def test_a_machine_whose_disk_takes_nothing_still_reads(bucket: BucketFolder, tmp_path: Path) -> None:
    put(bucket, "a")
    (tmp_path / "cache").write_text("no folder")
    file = CachedFile(bucket, "a", PartCache(tmp_path / "cache", 10**9)).open()
    assert file.read(0, len(CONTENT)) == CONTENT


def test_what_is_forgotten_is_gone_from_the_disk(bucket: BucketFolder, tmp_path: Path) -> None:
    cache = PartCache(tmp_path / "cache", 10**9)
    for name in ("a", "b", "c"):
        put(bucket, name)
        CachedFile(bucket, name, cache).open()
    cache.forget("a")
    cache.forget_others({"b"})
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["b"]
