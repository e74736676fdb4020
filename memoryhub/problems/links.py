"""Buttons of problems."""

from django.urls import NoReverseMatch, reverse

from apps.monitor.domain.problems import Remedy


def link(label: str, *names: str, more: str = "") -> Remedy | None:
    """Return a button that leads to the first of these pages that exists, None where none does.

    more: the rest of the address, from its `?` or `#` on.
    """
    for name in names:
        try:
            return Remedy(label=label, url=reverse(name) + more)
        except NoReverseMatch:
            continue
    return None


def object_link(label: str, name: str, pk: int) -> Remedy:
    """Return a button that leads to the page of one object."""
    return Remedy(label=label, url=reverse(name, args=[pk]))
