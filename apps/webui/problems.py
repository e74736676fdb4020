"""Why a service refused something, in words for a person: those of services are for programs, and in English."""

from django.utils.translation import gettext_lazy as _

from apps.core.domain.errors import MemoryHubError

# By the codes of errors.
WORDS = {
    "not_found": _("This memory no longer exists."),
    "stale_version": _("The memory has changed since. Read it again, then decide."),
    "changed_since": _("The memories have changed since, so nothing was done. Review them again."),
    "managed_changed": _("The memories have changed since, so nothing was done. Review them again."),
    "managed": _("This memory follows a file: change it there."),
    "duplicate": _("Another memory already says the same."),
    "superseded": _("Another memory has replaced this one."),
    "merged": _("This memory has become part of another one."),
    "rejected": _("This memory was not accepted, so it cannot be changed."),
    "not_replaced": _("This memory was not replaced: it holds already."),
    "lower_origin": _("A memory of a more trusted origin stays as it is."),
    "not_deleted": _("This memory is not deleted."),
    "not_reinforceable": _("This memory does not fade, so it needs no confirmation."),
    "nothing_to_revert": _("There is nothing to take back: both memories are as they were."),
    "already_reverted": _("This was already decided."),
    "already_accepted": _("This was already decided."),
    "already_overridden": _("This was already decided."),
    "not_a_decision": _("This was already decided."),
    "too_long": _("This is too long."),
    "max_length": _("This is too long."),
    "saving_paused": _("Remembering is paused. Resume it first."),
    "unavailable": _("The hub is busy. Nothing was changed; try again in a moment."),
    "throttled": _("Too many attempts. Try again in a moment."),
    "being_forgotten": _("Your data is being deleted, so nothing new is saved."),
}
OTHER = _("This could not be done. Reload the page and try again.")


def words_of(error: MemoryHubError) -> str:
    """Return what is said to a person about an error of a service."""
    return str(WORDS.get(error.code, OTHER))
