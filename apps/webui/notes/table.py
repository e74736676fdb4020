"""The pages of notes."""

from apps.webui.notes.edit import edit_page, preview_part
from apps.webui.notes.page import note_page, notes_page, search_page, today_append
from apps.webui.notes.versions import version_page, version_restore, versions_page
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="notes", path="notes/", view=notes_page),
    Page(name="notes_search", path="notes/search/", view=search_page),
    Page(name="notes_today", path="notes/today/", view=today_append),
    Page(name="note_preview", path="notes/preview/", view=preview_part),
    Page(name="note", path="notes/read/<path:path>/", view=note_page),
    Page(name="note_edit", path="notes/edit/<path:path>/", view=edit_page),
    Page(name="note_versions", path="notes/versions/<path:path>/", view=versions_page),
    Page(name="note_version", path="notes/version/<uuid:uuid>/", view=version_page),
    Page(name="note_restore", path="notes/version/<uuid:uuid>/restore/", view=version_restore),
)
