"""The tasks of people, which django-q2 runs by these names."""

from apps.people.downloads import make
from apps.people.erasure import run
from apps.people.leaving import plan


def erase() -> None:
    """Begin the erasures that people planned, and continue every open one; each minute, and when one is requested."""
    plan.plans_begin()
    run.erasures_continue()


def make_downloads() -> None:
    """Make the downloads that people asked for, and remove those that were kept long enough; each minute."""
    make.downloads_continue()
