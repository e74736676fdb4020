"""The environment variables of contexts, a part of `memoryhub.config.hub`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured
from environs import Env

from apps.context.domain.context import ItemKind

DEFAULT_SHARES = "wish:0.15,fact:0.15,memory:0.4,knowledge:0.1,note:0.15,event:0.05"


@dataclass(frozen=True)
class ContextConfig:
    """shares: of the budget of a context, in the order in which the kinds are shown."""

    shares: Mapping[ItemKind, float]


def read_context(env: Env) -> ContextConfig:
    """Read the variables. Raises ImproperlyConfigured."""
    written = env.str("MEMORYHUB_CONTEXT_SHARES", DEFAULT_SHARES)
    problem = (
        "MEMORYHUB_CONTEXT_SHARES must name each of "
        f"{', '.join(ItemKind)} once, with a share from 0 to 1, such as {DEFAULT_SHARES}; together at most 1."
    )
    shares: dict[ItemKind, float] = {}
    for part in written.split(","):
        name, _, number = part.strip().partition(":")
        try:
            kind, share = ItemKind(name.strip()), float(number)
        except ValueError:
            raise ImproperlyConfigured(problem) from None
        if kind in shares or not (math.isfinite(share) and 0 <= share <= 1):
            raise ImproperlyConfigured(problem)
        shares[kind] = share
    if set(shares) != set(ItemKind) or sum(shares.values()) > 1.0001:
        raise ImproperlyConfigured(problem)
    return ContextConfig(shares)
