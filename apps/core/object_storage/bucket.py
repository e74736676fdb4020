"""A folder of files in a bucket: whole files that never change, put under a new name, read by ranges of bytes.

Whatever the store answers becomes FileNotFoundError or FileExistsError for a file, and StoreError for everything that
says nothing about a file: no answer, no room, no bucket, no permission.
"""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import urlsplit

from apps.core.per_process import PerProcess

CONNECT_SECONDS, READ_SECONDS, TRIES = 3, 10, 2
CONNECTIONS = 32
# Of a file that is read from its beginning to its end.
PIECE_BYTES = 4 * 1024 * 1024
MISSING_FILE = {"NoSuchKey", "404"}
REFUSED = {"AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "403"}
FULL = {"QuotaExceeded", "QuotaExceededException", "XMinioStorageFull", "EntityTooLarge", "507"}


class StoreError(OSError):
    """The store does not do what it was asked for. strerror: why, without the name of a file."""


class BeyondEndError(StoreError):
    """A file is too short to have any of the bytes that were asked for."""


@dataclass(frozen=True)
class BucketFolder:
    """The files below a prefix of a bucket. prefix: empty, or ends with "/"."""

    bucket: str
    prefix: str

    @classmethod
    def at(cls, url: str) -> "BucketFolder":
        """Return the folder of an address such as s3://bucket/prefix/timeline."""
        parts = urlsplit(url)
        prefix = parts.path.strip("/")
        return cls(parts.netloc, f"{prefix}/" if prefix else "")

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def names(self) -> list[str]:
        """Return the names of all files, ascending, those of folders below with their path."""
        with asked():
            pages = client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix)
            keys = [each["Key"] for page in pages for each in page.get("Contents", ())]
        return sorted(key.removeprefix(self.prefix) for key in keys if not key.endswith("/"))

    def read(self, name: str, offset: int, size: int) -> tuple[bytes, int]:
        """Return these bytes of a file, fewer at its end, and its whole size. Raises FileNotFoundError."""
        try:
            with asked():
                answer = client().get_object(**self._object(name), Range=f"bytes={offset}-{offset + size - 1}")
                data = answer["Body"].read()
        except BeyondEndError:
            if offset:
                raise
            return b"", 0
        if "ContentRange" not in answer:  # something in between does not know ranges
            return data[offset : offset + size], len(data)
        return data, int(answer["ContentRange"].rpartition("/")[2])

    def read_text(self, name: str) -> str | None:
        """Return a small file, None where there is none."""
        try:
            return self.read(name, 0, PIECE_BYTES)[0].decode("ascii", "replace")
        except FileNotFoundError:
            return None

    def write_text(self, name: str, text: str) -> None:
        """Write a small file, in place of one that has its name."""
        with asked():
            client().put_object(**self._object(name), Body=text.encode("ascii"))

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield a file from its beginning to its end. Raises FileNotFoundError."""
        offset, whole = 0, 1
        while offset < whole:
            piece, whole = self.read(name, offset, PIECE_BYTES)
            yield piece
            offset += len(piece)

    def written_at(self, name: str) -> float:
        """Return when a file was put there, in seconds since 1970. Raises FileNotFoundError."""
        with asked():
            answer = client().get_object(**self._object(name))
            answer["Body"].close()
        return float(answer["LastModified"].timestamp())

    def digest(self, name: str) -> str:
        """Return the sha256 of a file as the store gives it back, in hex. Raises FileNotFoundError."""
        checksum = hashlib.sha256()
        for piece in self.pieces(name):
            checksum.update(piece)
        return checksum.hexdigest()

    def put_new(self, name: str, stream: IO[bytes], sha256: str) -> None:
        """Store a file under a name that none has, and read it back. sha256: of its content, in hex.

        Raises FileExistsError for another file of that name, StoreError when it comes back as another one.
        """
        stream.seek(0)
        is_there = False
        try:
            with asked():
                client().put_object(**self._object(name), Body=stream, IfNoneMatch="*")
        except FileExistsError:  # the same, when an answer was lost and the file was sent again
            is_there = True
        if self.digest(name) == sha256:
            return
        if is_there:
            raise FileExistsError(errno.EEXIST, "The store has another file of that name")
        raise StoreError(errno.EIO, "the store of files gave back other bytes than it was given")

    def exists(self, name: str) -> bool:
        """Return whether there is a file of that name."""
        try:
            self.read(name, 0, 1)
        except FileNotFoundError:
            return False
        return True

    def move(self, name: str, target: str) -> None:
        """Give a file another name. Raises FileNotFoundError."""
        with asked():
            client().copy_object(**self._object(target), CopySource=self._object(name))
            client().delete_object(**self._object(name))

    def remove(self, name: str) -> bool:
        """Remove a file for good; return False when it was not there."""
        was_there = self.exists(name)
        with asked():
            client().delete_object(**self._object(name))
        return was_there

    def _object(self, name: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self.prefix + name}


def client() -> Any:
    """Return the connection of this process to the store; any thread may use it."""
    return _client.get()


def forget_client() -> None:
    """Have the next call connect again, with the environment as it is then."""
    _client.forget()


def _connect() -> Any:
    import boto3
    from botocore.config import Config

    own_server = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": TRIES, "mode": "standard"},
        max_pool_connections=CONNECTIONS,
        # Servers of one's own seldom have a name for each bucket, and some refuse checksums of newer kinds.
        s3={"addressing_style": "path" if own_server else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return boto3.session.Session().client("s3", config=config)


_client = PerProcess(_connect)


@contextmanager
def asked() -> Iterator[None]:
    """Have errors of the store become those of files. What is read of this machine for it is none of its files."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
    from urllib3.exceptions import HTTPError

    try:
        yield
    except ClientError as error:
        raise translated(error.response) from error
    except NoCredentialsError as error:
        detail = "there are no credentials for the store of files (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
        raise StoreError(errno.EACCES, detail) from error
    except (BotoCoreError, HTTPError) as error:
        raise StoreError(errno.ETIMEDOUT, f"the store of files does not answer ({type(error).__name__})") from error
    except (OSError, ValueError) as error:  # a file of credentials, the address of the server
        raise StoreError(errno.EIO, f"the store of files cannot be asked ({type(error).__name__})") from error


def translated(answer: dict[str, Any]) -> OSError:
    """Return the error for an answer of the store that is one."""
    code = str(answer.get("Error", {}).get("Code", ""))
    status = str(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
    if code == "NoSuchBucket":
        return StoreError(errno.ENODEV, "the store of files has no such bucket")
    if code == "InvalidRange" or status == "416":
        return BeyondEndError(errno.EIO, "a file is shorter than it was")
    if code in MISSING_FILE:
        return FileNotFoundError(errno.ENOENT, "There is no such file")
    if status == "412":
        return FileExistsError(errno.EEXIST, "There is a file of that name")
    if code in REFUSED or status == "403":
        return StoreError(errno.EACCES, f"the store of files refuses this hub ({code or status})")
    if code in FULL or status == "507":
        return StoreError(errno.ENOSPC, f"the store of files is full ({code or status})")
    return StoreError(errno.EPROTO, f"the store of files answers {status} ({code or 'no code'})")
