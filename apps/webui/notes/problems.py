"""What is wrong, in words for the person whose notes these are."""

from django.utils.translation import gettext_lazy as _

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.settings import ConfigProblem

# By the codes of errors that the services of notes raise.
WORDS = {
    "too_large": _("This is more than the 5 MB that a file may have. Nothing was changed."),
    "not_utf8": _("The file is not in UTF-8, so it can be added to here, and edited on the disk only."),
    "not_a_file": _("On the disk there is no file at this place, but a folder or a link, which is not followed."),
    "hard_link": _("The file has a second name elsewhere on the disk (a hard link) and is not read. Make a copy."),
    "no_permission": _("The hub may not read or write this file: the operator has to allow it."),
    "disk_full": _("The disk is full. Nothing was changed; try again when there is room."),
    "disk_error": _("The disk cannot be reached now. Try again in a moment."),
    "no_text": _("This version is a deletion: bring back the one before it."),
    "being_forgotten": _("Your data are being deleted, so nothing new is written."),
    "set_aside": _("The file of your settings could not be read and was put aside. The last settings that could hold."),
    "missing": _("The file of your settings is gone or empty. The last settings hold."),
    "unsettled": _("The file of your settings cannot be read as it is. The last settings hold."),
    "invalid_setting": _("One of your settings has a value that cannot be. The last one that could be holds."),
    "compaction_stale": _("MEMORY.md has changed since the proposal was made. Compact again to get a new one."),
    "compaction_state": _("This was decided already."),
    "changed_since": _("MEMORY.md has changed since. To give these changes up, bring the version before back."),
    "model_not_available": _("The chosen model is not offered by any provider of this hub. Choose another one."),
    "no_model": _("No chat model is set up in this hub."),
    "budget_exceeded": _("What the hub may spend on models today is used up. Try again tomorrow."),
    "price_unknown": _("The hub does not know what this model costs, so it is not asked. Choose another one."),
    "open": _("The model has failed several times and is left alone for now. Try again in some minutes."),
    "timeout": _("The model did not answer in time. Try again later."),
    "out_of_time": _("The model did not answer in time. Try again later."),
    "connection": _("The provider of the model cannot be reached. Try again later."),
    "overloaded": _("The provider of the model is out of order. Try again later."),
    "rate_limited": _("The provider of the model had too many questions. Try again in a minute."),
    "throttled": _("The models of this hub had too many questions. Try again in a minute."),
    "full": _("The models of this hub had too many questions. Try again in a minute."),
    "auth": _("The provider of the model refuses the key of this hub. Its operator has to change it."),
    "empty": _("The model answered nothing."),
    "filtered": _("The provider of the model refused to answer."),
    "cut_off": _("The answer of the model was cut off, so nothing of it is used."),
    "invalid_json": _("The answer of the model could not be used."),
    "wrong_shape": _("The answer of the model could not be used."),
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
