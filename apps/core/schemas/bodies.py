"""How large the body of a request may be, by what its address takes (bytes, and values once parsed)."""

from dataclasses import dataclass

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ErrorDetail

from apps.core.domain.json_shape import MAX_JSON_CHARS

KIB = 1024
# A character beyond U+FFFF as two escapes of six bytes; a double with its sign, exponent, comma and space.
CHARACTER_BYTES = 12
NUMBER_BYTES = 26
# Tags, filters, ids and options of a request, and what a request about one memory holds besides its content.
BASE_BYTES = 64 * KIB
ITEM_CHARS = 10_000 + MAX_JSON_CHARS + 5_000
# Metadata of the largest size, made of nothing but empty lists, count as 40,000.
BASE_VALUES = 80_000
MAX_BATCH = 1_000
# The share of an item in a batch besides its vector.
BATCH_ITEM_BYTES = 16 * KIB
BATCH_ITEM_VALUES = 256
MAX_DEPTH = 100
# Of JSON Lines: what a thread works through in half a minute on a quiet machine, and in minutes on a busy one.
MAX_LINES = 100_000


@dataclass(frozen=True)
class BodyLimit:
    """size: in bytes. values: of JSON, containers included."""

    size: int
    values: int


class BodyTooLargeError(APIException):
    """A request body beyond the limit of its address, in bytes."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"

    def __init__(self, size: int) -> None:
        super().__init__(f"The request body is too large: at most {size} bytes at this address.")


class TooManyLinesError(BodyTooLargeError):
    """A request body of too many lines."""

    def __init__(self, lines: int) -> None:
        super().__init__(0)
        self.detail = ErrorDetail(f"The request body has too many lines: at most {lines}.", self.default_code)


def make_limit(*, chars: int = 0, vectors: int = 0) -> BodyLimit:
    """Return the limit of a body with so many characters of text and so many vectors, besides the usual fields."""
    numbers = vectors * settings.MEMORYHUB.embedding.dimension
    size = BASE_BYTES + CHARACTER_BYTES * chars + NUMBER_BYTES * numbers
    return BodyLimit(min(size, settings.DATA_UPLOAD_MAX_MEMORY_SIZE), BASE_VALUES + numbers)


def small_limit() -> BodyLimit:
    """Return the limit of a request of a few fields."""
    return make_limit()


def search_limit() -> BodyLimit:
    """Return the limit of a search: its words, and a vector."""
    return make_limit(chars=10_000, vectors=1)


def item_limit() -> BodyLimit:
    """Return the limit of a request with one memory or one event."""
    return make_limit(chars=settings.MEMORYHUB.max_content_chars + ITEM_CHARS, vectors=1)


def pair_limit() -> BodyLimit:
    """Return the limit of a request with two memories."""
    return make_limit(chars=2 * (settings.MEMORYHUB.max_content_chars + ITEM_CHARS), vectors=2)


def document_limit() -> BodyLimit:
    """Return the limit of a request with long texts, such as an output of a model or rules."""
    return make_limit(chars=100_000)


def batch_limit() -> BodyLimit:
    """Return the limit of a full batch: a vector and 16 KiB for each item, and one item as large as it may be."""
    numbers = settings.MEMORYHUB.embedding.dimension
    size = item_limit().size + MAX_BATCH * (BATCH_ITEM_BYTES + NUMBER_BYTES * numbers)
    values = BASE_VALUES + MAX_BATCH * (BATCH_ITEM_VALUES + numbers)
    return BodyLimit(min(size, settings.DATA_UPLOAD_MAX_MEMORY_SIZE), values)


def lines_limit() -> BodyLimit:
    """Return the limit of JSON Lines: as large as a full batch. values: of one line."""
    return BodyLimit(batch_limit().size, item_limit().values)


def upload_limit() -> BodyLimit:
    """Return the limit of a form with a file that a person uploads."""
    return BodyLimit(settings.MEMORYHUB.upload_mb * 1024 * KIB + BASE_BYTES, 0)


def whole_limit() -> BodyLimit:
    """Return the limit of anything at all, for JSON that comes from no address."""
    return BodyLimit(settings.DATA_UPLOAD_MAX_MEMORY_SIZE, batch_limit().values)
