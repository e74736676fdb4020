"""The pages of days. A span is `all`, a year, a month or a day: `2026`, `2026-11`, `2026-11-23`."""

from apps.webui.days.forget import copy_file, event_forget, event_page, forget_page
from apps.webui.days.page import days_page, span_page
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="days", path="days/", view=days_page),
    Page(name="days_event", path="days/event/<uuid:uuid>/", view=event_page),
    Page(name="days_event_forget", path="days/event/<uuid:uuid>/forget/", view=event_forget),
    Page(name="days_span", path="days/<str:span>/", view=span_page),
    Page(name="days_forget", path="days/<str:span>/forget/", view=forget_page),
    Page(name="days_copy", path="days/<str:span>/copy/", view=copy_file, is_own=True),
)
