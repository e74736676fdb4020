"""The accounts of a person who is forgotten and wants to begin again: set aside while the stores are emptied.

An account that is set aside has no pages and no bound. That shows it nothing, since it has no role; one with a role is
left alone, so that no account ever sees more than before.
"""

from django.db import transaction

from apps.accounts.services import pages_return, pages_take
from apps.people.models import Erasure


def logins_set_aside(erasure: Erasure) -> None:
    """Set the accounts aside that are to be kept, and note which; safe to repeat."""
    with transaction.atomic():
        taken = pages_take(person_id=erasure.user_id)
        erasure.logins = [*erasure.logins, *taken]
        erasure.save(update_fields=["logins"])


def logins_return(erasure: Erasure) -> None:
    """Give the accounts their pages again, in the caller's transaction, once the user is unlocked."""
    pages_return(person_id=erasure.user_id, kept=erasure.logins)
