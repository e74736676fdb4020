"""Chunks of answers that are made while they are sent: what is to be done at their end is done once."""

from collections.abc import Iterator

import pytest

from apps.core.pages.streams import OwnedIterator


def numbers(fails: bool = False) -> Iterator[bytes]:
    yield b"1"
    yield b"2"
    if fails:
        raise RuntimeError


@pytest.fixture
def ended() -> list[str]:
    return []


def test_end_is_noticed_without_close(ended: list[str]) -> None:
    chunks = OwnedIterator(numbers(), lambda: ended.append("end"))
    assert list(chunks) == [b"1", b"2"]
    assert ended == ["end"]
    chunks.close()
    assert list(chunks) == []
    assert ended == ["end"]


def test_failure_is_an_end(ended: list[str]) -> None:
    with pytest.raises(RuntimeError):
        list(OwnedIterator(numbers(fails=True), lambda: ended.append("end")))
    assert ended == ["end"]


def test_close_in_the_middle_is_an_end(ended: list[str]) -> None:
    chunks = OwnedIterator(numbers(), lambda: ended.append("end"))
    assert next(chunks) == b"1"
    chunks.close()
    assert (ended, list(chunks)) == (["end"], [])
