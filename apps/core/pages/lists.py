"""Several words as one text, with the marks that the language of the reader puts between them."""

from collections.abc import Iterable
from functools import reduce

from django.utils.translation import gettext

from apps.core.words import Words


def listed(parts: Iterable[Words]) -> str:
    """Return parts with commas between them; empty for none."""
    return joined(parts, gettext("%(before)s, %(last)s"))


def in_turn(parts: Iterable[Words]) -> str:
    """Return longer parts with semicolons between them; empty for none."""
    return joined(parts, gettext("%(before)s; %(last)s"))


def all_of(parts: Iterable[Words]) -> str:
    """Return parts with `and` between them; empty for none."""
    return joined(parts, gettext("%(before)s and %(last)s"))


def joined(parts: Iterable[Words], pair: str) -> str:
    """Return parts joined two by two. pair: of what is before and the last."""
    texts = [str(part) for part in parts]
    return reduce(lambda before, last: pair % {"before": before, "last": last}, texts) if texts else ""
