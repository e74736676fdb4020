"""The ids of requests."""

import logging
from contextvars import Context, copy_context

import pytest

from apps.core.request_id import RequestIdFilter, begin_request, current_request_id


def chosen(*values: bytes) -> str:
    return copy_context().run(begin_request, [(b"x-request-id", value) for value in values])


@pytest.mark.parametrize("given", [b"a", b"7f3c-11", b"trace:1/2_3.4+5=", b"x" * 64])
def test_a_well_formed_short_id_of_the_client_is_used(given: bytes) -> None:
    assert chosen(given) == given.decode()


@pytest.mark.parametrize("given", [b"", b"x" * 65, b"two words", b"line\nbreak", b"end\n", b'"', "ü".encode(), b"<b>"])
def test_any_other_is_replaced_by_a_new_one(given: bytes) -> None:
    one, other = chosen(given), chosen(given)
    assert len(one) == 32
    assert one != other


def test_two_ids_of_one_request_are_none() -> None:
    assert chosen(b"a", b"b") not in {"a", "b"}


def test_records_of_the_log_carry_it() -> None:
    def log() -> str:
        begin_request([(b"X-Request-ID", b"abc")])
        record = logging.makeLogRecord({})
        assert RequestIdFilter().filter(record)
        return str(record.request_id)  # type: ignore[attr-defined]

    assert copy_context().run(log) == "abc"
    assert Context().run(current_request_id) == "-"
