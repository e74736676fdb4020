"""Which note an address is about, what the note is called, and who wrote a version of it."""

from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.core.domain.errors import InvalidInputError
from apps.core.pauses import PERSON
from apps.notes.domain.places import NotePlace, daily_place, is_note_name, parse_place
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


def today() -> date:
    """Return which day it is for the person."""
    return datetime.now(zone_of_page()).date()


def note_of_today() -> Note:
    """Return the log of today."""
    return Note(daily_place(today()))


def who_wrote(version: NoteVersion, person: Person) -> str:
    """Return who wrote a version, in words: the person, unless another one looks, an editor, or the name of a key."""
    kind, _colon, name = version.author.partition(":")
    if version.author == f"{PERSON}{person.user_id}" and person.look is None:
        return _("You")
    if version.author == "disk":
        return _("An editor on the disk")
    return name if kind == "key" else version.author


def kind_words(version: NoteVersion) -> str:
    """Return what led to a version, in words."""
    return str(KINDS.get(version.kind, version.get_kind_display()))
