"""The tasks of people, which django-q2 runs by these names."""

from apps.people.erasure import run


def erase() -> None:
    """Continue every open erasure; each minute, and when one is requested."""
    run.erasures_continue()
