"""Readiness checks that say each of the things that a check can say."""

from django.db import OperationalError


def content() -> str | None:
    return None


def discontent() -> str | None:
    return "still warming up"


def without_database() -> str | None:
    raise OperationalError("password=secret")


def broken() -> str | None:
    raise RuntimeError("secret")
