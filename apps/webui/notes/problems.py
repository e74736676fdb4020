"""What is wrong, in words for the person whose notes these are."""

from django.utils.translation import gettext_lazy as _

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.settings import ConfigProblem

# By the codes of errors that the services of notes raise.
WORDS = {
    "too_large": _("This is over the limit of 5 MB per file. Nothing was changed."),
    "not_utf8": _("The file is not in UTF-8, so you can add to it here, but edit it only on the disk."),
    "not_a_file": _("On the disk, this is a folder or a link, not a file. Links are not followed."),
    "hard_link": _("The file has a second name elsewhere on the disk (a hard link) and is not read. Make a copy."),
    "no_permission": _("The hub has no permission to read or write this file. The operator has to grant it."),
    "disk_full": _("The disk is full. Nothing was changed; try again when there is room."),
    "disk_error": _("The disk cannot be reached right now. Try again in a moment."),
    "no_text": _("This version is a deletion: restore the one before it."),
    "being_forgotten": _("Your data is being deleted, so nothing new is saved."),
    "set_aside": _("Your settings file could not be read and was set aside. The last valid settings are used."),
    "missing": _("Your settings file is missing or empty. The last settings are used."),
    "unsettled": _("Your settings file cannot be read. The last valid settings are used."),
    "invalid_setting": _("One of your settings has an invalid value. Its last valid value is used."),
    "compaction_stale": _("MEMORY.md has changed since the proposal was made. Compact again to get a new one."),
    "compaction_state": _("This was already decided."),
    "changed_since": _("MEMORY.md has changed since. To discard these changes, restore the previous version."),
    "model_not_available": _("No provider of this hub offers the chosen model. Choose another one."),
    "no_model": _("No chat model is set up in this hub."),
    "budget_exceeded": _("Today’s budget for models is used up. Try again tomorrow."),
    "price_unknown": _("The hub does not know what this model costs, so it does not use it. Choose another one."),
    "open": _("The model has failed several times and is paused for now. Try again in a few minutes."),
    "timeout": _("The model did not answer in time. Try again later."),
    "out_of_time": _("The model did not answer in time. Try again later."),
    "connection": _("The model’s provider cannot be reached. Try again later."),
    "overloaded": _("The model’s provider is having problems. Try again later."),
    "rate_limited": _("The model’s provider received too many requests. Try again in a minute."),
    "throttled": _("This hub’s models received too many requests. Try again in a minute."),
    "full": _("This hub’s models received too many requests. Try again in a minute."),
    "auth": _("The model’s provider rejected this hub’s key. The operator has to replace it."),
    "empty": _("The model gave no answer."),
    "filtered": _("The model’s provider refused to answer."),
    "cut_off": _("The model’s answer was cut off, so none of it is used."),
    "invalid_json": _("The model’s answer could not be used."),
    "wrong_shape": _("The model’s answer could not be used."),
    "interrupted": _("It was interrupted each time. Try again."),
    "no_facts": _("MEMORY.md has no list of facts that could be shorter."),
    "nothing_shorter": _("The model found nothing that could be shorter."),
}
OTHER = _("This did not work. Try again in a moment.")


def problem_words(problem: MemoryHubError | ConfigProblem) -> str:
    """Return what is wrong in words."""
    return code_words(problem.code)


def code_words(code: str) -> str:
    """Return what the code of an error means."""
    return str(WORDS.get(code, OTHER))
