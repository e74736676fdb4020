"""Which note an address is about, what the note is called, who wrote a version of it, and what is wrong, in words."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.core.domain.errors import InvalidInputError, MemoryHubError
from apps.core.models import IMPORT_ACTOR
from apps.core.pauses import PERSON
from apps.notes.domain.places import NotePlace, daily_place, is_note_name, parse_place
from apps.notes.domain.settings import ConfigProblem
from apps.notes.selectors import NoteVersion
from apps.webui.person import Person

KINDS = {
    "append": gettext_lazy("Added to"),
    "edit": gettext_lazy("Edited"),
    "restore": gettext_lazy("Restored"),
    "found": gettext_lazy("Changed on the disk"),
    "kept": gettext_lazy("Kept aside, because something else was saved first"),
    "delete": gettext_lazy("Deleted"),
    "rename": gettext_lazy("Renamed"),
}
OTHER = gettext_lazy("This did not work. Try again in a moment.")


@dataclass(frozen=True)
class Note:
    """A note as the pages speak of it."""

    place: NotePlace

    @property
    def path(self) -> str:
        """Return its path below the folder of the person."""
        return str(self.place)

    @property
    def title(self) -> str:
        """Return what it is called: the day of a log, else the path."""
        day = self.place.day
        return self.path if day is None else date_format(day, "DATE_FORMAT")

    @property
    def url(self) -> str:
        """Return the address where it is read."""
        return reverse("webui:note", args=[self.path])


def note_or_404(path: str) -> Note:
    """Return the note of a path. Raises Http404 for what can be no note."""
    try:
        place = parse_place(path)
    except InvalidInputError:
        raise Http404 from None
    if not is_note_name(place.name):
        raise Http404
    return Note(place)


def zone_of_page() -> ZoneInfo:
    """Return the time zone in which the person reads and writes."""
    zone = timezone.get_current_timezone()
    return zone if isinstance(zone, ZoneInfo) else ZoneInfo("UTC")


def note_of_today() -> Note:
    """Return the log of today."""
    return Note(daily_place(datetime.now(zone_of_page()).date()))


def who_wrote(version: NoteVersion, person: Person) -> str:
    """Return who wrote a version, in words: the person, unless another one looks, an editor, or the name of a key."""
    kind, _colon, name = version.author.partition(":")
    if version.author == f"{PERSON}{person.user_id}" and person.look is None:
        return _("You")
    if version.author == "disk":
        return _("An editor on the disk")
    if version.author.startswith(IMPORT_ACTOR):
        return _("An import")
    return name if kind == "key" else version.author


# By the codes of errors that the services of notes raise.
WORDS = {
    "too_large": gettext_lazy("This is over the limit of 5 MB per file. Nothing was changed."),
    "not_utf8": gettext_lazy("The file is not in UTF-8, so you can add to it here, but edit it only on the disk."),
    "not_a_file": gettext_lazy("On the disk, this is a folder or a link, not a file. Links are not followed."),
    "hard_link": gettext_lazy(
        "The file has a second name elsewhere on the disk (a hard link) and is not read. Make a copy."
    ),
    "no_permission": gettext_lazy(
        "The hub has no permission to read or write this file. The operator has to grant it."
    ),
    "disk_full": gettext_lazy("The disk is full. Nothing was changed; try again when there is room."),
    "disk_error": gettext_lazy("The disk cannot be reached right now. Try again in a moment."),
    "no_text": gettext_lazy("This version is a deletion: restore the one before it."),
    "being_forgotten": gettext_lazy("Your data is being deleted, so nothing new is saved."),
    "set_aside": gettext_lazy(
        "Your settings file could not be read and was set aside. The last valid settings are used."
    ),
    "missing": gettext_lazy("Your settings file is missing or empty. The last settings are used."),
    "unsettled": gettext_lazy("Your settings file cannot be read. The last valid settings are used."),
    "invalid_setting": gettext_lazy("One of your settings has an invalid value. Its last valid value is used."),
    "compaction_stale": gettext_lazy(
        "MEMORY.md has changed since the proposal was made. Compact again to get a new one."
    ),
    "compaction_state": gettext_lazy("This was already decided."),
    "changed_since": gettext_lazy(
        "MEMORY.md has changed since. To discard these changes, restore the previous version."
    ),
    "model_not_available": gettext_lazy("No provider of this hub offers the chosen model. Choose another one."),
    "no_model": gettext_lazy("No chat model is set up in this hub."),
    "budget_exceeded": gettext_lazy("Today’s budget for models is used up. Try again tomorrow."),
    "price_unknown": gettext_lazy(
        "The hub does not know what this model costs, so it does not use it. Choose another one."
    ),
    "open": gettext_lazy("The model has failed several times and is paused for now. Try again in a few minutes."),
    "timeout": gettext_lazy("The model did not answer in time. Try again later."),
    "out_of_time": gettext_lazy("The model did not answer in time. Try again later."),
    "connection": gettext_lazy("The model’s provider cannot be reached. Try again later."),
    "overloaded": gettext_lazy("The model’s provider is having problems. Try again later."),
    "rate_limited": gettext_lazy("The model’s provider received too many requests. Try again in a minute."),
    "throttled": gettext_lazy("This hub’s models received too many requests. Try again in a minute."),
    "full": gettext_lazy("This hub’s models received too many requests. Try again in a minute."),
    "auth": gettext_lazy("The model’s provider rejected this hub’s key. The operator has to replace it."),
    "empty": gettext_lazy("The model gave no answer."),
    "filtered": gettext_lazy("The model’s provider refused to answer."),
    "cut_off": gettext_lazy("The model’s answer was cut off, so none of it is used."),
    "invalid_json": gettext_lazy("The model’s answer could not be used."),
    "wrong_shape": gettext_lazy("The model’s answer could not be used."),
    "interrupted": gettext_lazy("It was interrupted each time. Try again."),
    "no_facts": gettext_lazy("MEMORY.md has no list of facts that could be shorter."),
    "nothing_shorter": gettext_lazy("The model found nothing that could be shorter."),
}


def problem_words(problem: MemoryHubError | ConfigProblem) -> str:
    """Return what is wrong in words."""
    return code_words(problem.code)


def code_words(code: str) -> str:
    """Return what the code of an error means."""
    return str(WORDS.get(code, OTHER))
