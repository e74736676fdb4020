"""Whether an account sees only a part of the hub: the one question by which pages, sockets and permissions decide."""

from typing import Any


def is_bound(user: Any) -> bool:
    """Return whether an account has a bound (`apps.accounts.models.Account`); one without such a row has none."""
    account = getattr(user, "account", None)
    return account is not None and account.is_bound
