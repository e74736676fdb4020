"""The tasks of people, which django-q2 runs by these names."""

from apps.people.connecting import connections_trim
from apps.people.downloads import make
from apps.people.erasure import run
from apps.people.learnt import forgettings_continue
from apps.people.leaving import plans_begin
from apps.people.memberships import memberships_review


def erase() -> None:
    """Begin the erasures that people planned, and continue every open one; each minute, and when one is requested."""
    plans_begin()
    run.erasures_continue()


def make_downloads() -> None:
    """Make the downloads that people asked for, and remove those that were kept long enough; each minute."""
    make.downloads_continue()


def forget_learnt() -> None:
    """Continue every forgetting of what an app learnt; each minute, and when one is requested."""
    forgettings_continue()


def trim_connections() -> None:
    """Delete the requests of apps for a key that are over; every ten minutes."""
    connections_trim()


def review_memberships() -> None:
    """Find users who have something in a household or persona of which nobody said that they belong there; daily."""
    memberships_review()
