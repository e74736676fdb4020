"""Addresses of notes."""

from datetime import date

from django.urls import path, register_converter

from apps.notes.rest import notes


class DayConverter:
    """A day in an address, such as 2026-03-04."""

    regex = r"\d{4}-\d{2}-\d{2}"

    def to_python(self, value: str) -> date:
        """Return the day. Raises ValueError for one that no calendar has, which is a 404."""
        return date.fromisoformat(value)

    def to_url(self, value: date) -> str:
        """Return the day as it is in an address."""
        return value.isoformat()


register_converter(DayConverter, "day")

urlpatterns = [
    path("commands", notes.CommandsView.as_view(), name="notes-commands"),
    path("config", notes.ConfigView.as_view(), name="notes-config"),
    path("main", notes.MainView.as_view(), name="notes-main"),
    path("main/entries", notes.MainEntriesView.as_view(), name="notes-main-entries"),
    path("daily", notes.DailyListView.as_view(), name="notes-daily"),
    path("daily/entries", notes.DailyEntriesView.as_view(), name="notes-daily-entries"),
    path("daily/today", notes.TodayView.as_view(), name="notes-today"),
    path("daily/<day:day>", notes.DailyView.as_view(), name="notes-day"),
    path("prompt", notes.PromptView.as_view(), name="notes-prompt"),
    path("search", notes.NoteSearchView.as_view(), name="notes-search"),
    path("status", notes.NoteStatusView.as_view(), name="notes-status"),
    path("versions", notes.VersionsView.as_view(), name="notes-versions"),
    path("versions/<uuid:uuid>", notes.VersionView.as_view(), name="notes-version"),
    path("versions/<uuid:uuid>/restore", notes.VersionRestoreView.as_view(), name="notes-version-restore"),
]
