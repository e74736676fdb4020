"""The one table of the pages and fragments of the web UI."""

from apps.webui.applications.connect import connect_answer, connect_page
from apps.webui.applications.page import (
    app_forget_page,
    app_let_in,
    app_page,
    app_stop,
    apps_page,
    forgetting_page,
    forgetting_state,
    forgetting_undo,
)
from apps.webui.ask import ask_page
from apps.webui.clear_up import badge_of, clear_up_answer, clear_up_page, clear_up_undo, decided_page
from apps.webui.days.forget import copy_file, event_forget, event_page, forget_page
from apps.webui.days.page import days_page, span_page
from apps.webui.home import alarms, go_on, home_page, just_learned, known, learned_take_back, pause, tell
from apps.webui.household import household_page
from apps.webui.known import known_bring_back, known_forget, known_page
from apps.webui.memory.page import (
    decision_take_back,
    memory_both_true,
    memory_correct,
    memory_forget,
    memory_keep_for,
    memory_page,
    memory_restored,
    memory_still_true,
    memory_this_true,
)
from apps.webui.memory_settings.page import (
    compact_now,
    compaction_decide,
    compaction_part,
    memory_settings_page,
    part_save,
    settings_search,
)
from apps.webui.notes.page import edit_page, note_page, notes_page, preview_part, search_page, today_append
from apps.webui.notes.versions import version_page, version_restore, versions_page
from apps.webui.pages import Page, fragment
from apps.webui.privacy.forget import forgotten_page, privacy_forget_page, take_back
from apps.webui.privacy.page import (
    download_ask,
    download_file,
    download_throw_away,
    looked_page,
    privacy_page,
    shown_download,
)
from apps.webui.settings import settings_page

PAGES: tuple[Page, ...] = (
    Page(name="home", path="", view=home_page),
    Page(name="home_latest", path="home/latest/", view=fragment("webui/home/latest.html", known), part_of="home"),
    Page(name="alarms", path="home/alarms/", view=alarms, part_of=""),
    Page(
        name="home_learned",
        path="home/learned/",
        view=fragment("webui/home/learned.html", just_learned),
        part_of="home",
    ),
    Page(name="learned_undo", path="home/learned/<uuid:uuid>/undo/", view=learned_take_back),
    Page(name="tell", path="home/tell/", view=tell),
    Page(name="pause", path="pause/", view=pause),
    Page(name="go_on", path="pause/end/", view=go_on),
    Page(name="ask", path="ask/", view=ask_page),
    Page(name="known", path="memories/", view=known_page),
    Page(name="known_forget", path="memories/forget/", view=known_forget),
    Page(name="known_bring_back", path="memories/bring-back/", view=known_bring_back),
    Page(name="memory", path="memories/<uuid:uuid>/", view=memory_page),
    Page(name="memory_correct", path="memories/<uuid:uuid>/correct/", view=memory_correct),
    Page(name="memory_forget", path="memories/<uuid:uuid>/forget/", view=memory_forget),
    Page(name="memory_restore", path="memories/<uuid:uuid>/restore/", view=memory_restored),
    Page(name="memory_keep_for", path="memories/<uuid:uuid>/keep-for/", view=memory_keep_for),
    Page(name="memory_both_true", path="memories/<uuid:uuid>/both-true/", view=memory_both_true),
    Page(name="memory_this_true", path="memories/<uuid:uuid>/this-true/", view=memory_this_true),
    Page(name="decision_undo", path="decisions/<uuid:uuid>/undo/", view=decision_take_back),
    Page(name="memory_still_true", path="memories/<uuid:uuid>/still-true/", view=memory_still_true),
    Page(name="clear_up", path="clear-up/", view=clear_up_page),
    Page(name="decided", path="clear-up/decided/", view=decided_page),
    Page(
        name="clear_up_badge", path="clear-up/badge/", view=fragment("webui/clear_up/badge.html", badge_of), part_of=""
    ),
    Page(name="clear_up_undo", path="clear-up/undo/", view=clear_up_undo),
    Page(name="clear_up_answer", path="clear-up/<uuid:uuid>/", view=clear_up_answer),
    # A span is `all`, a year, a month or a day: `2026`, `2026-11`, `2026-11-23`.
    Page(name="days", path="days/", view=days_page),
    Page(name="days_event", path="days/event/<uuid:uuid>/", view=event_page),
    Page(name="days_event_forget", path="days/event/<uuid:uuid>/forget/", view=event_forget),
    Page(name="days_span", path="days/<str:span>/", view=span_page),
    Page(name="days_forget", path="days/<str:span>/forget/", view=forget_page),
    Page(name="days_copy", path="days/<str:span>/copy/", view=copy_file, is_own=True),
    Page(name="household", path="household/", view=household_page),
    Page(name="notes", path="notes/", view=notes_page),
    Page(name="notes_search", path="notes/search/", view=search_page),
    Page(name="notes_today", path="notes/today/", view=today_append),
    Page(name="note_preview", path="notes/preview/", view=preview_part),
    Page(name="note", path="notes/read/<path:path>/", view=note_page),
    Page(name="note_edit", path="notes/edit/<path:path>/", view=edit_page),
    Page(name="note_versions", path="notes/versions/<path:path>/", view=versions_page),
    Page(name="note_version", path="notes/version/<uuid:uuid>/", view=version_page),
    Page(name="note_restore", path="notes/version/<uuid:uuid>/restore/", view=version_restore),
    Page(name="privacy", path="privacy/", view=privacy_page),
    Page(name="privacy_download", path="privacy/download/", view=download_ask),
    Page(
        name="privacy_download_state",
        path="privacy/download/state/",
        view=fragment("webui/privacy/download.html", shown_download),
        part_of="privacy",
    ),
    Page(name="privacy_download_remove", path="privacy/download/remove/", view=download_throw_away),
    Page(name="privacy_file", path="privacy/download/<uuid:uuid>/", view=download_file, is_own=True),
    Page(name="privacy_looked", path="privacy/looked/", view=looked_page),
    Page(name="privacy_forget", path="privacy/forget/", view=privacy_forget_page),
    Page(name="privacy_take_back", path="privacy/forget/take-back/", view=take_back),
    Page(name="forgotten", path="forgotten/<uuid:uuid>/", view=forgotten_page, is_public=True),
    Page(name="memory_settings", path="settings/memory/", view=memory_settings_page),
    Page(name="memory_settings_save", path="settings/memory/save/<slug:part>/", view=part_save),
    Page(name="memory_settings_search", path="settings/memory/search/", view=settings_search),
    Page(name="memory_compact", path="settings/memory/compact/", view=compact_now),
    Page(name="memory_compaction", path="settings/memory/compaction/", view=compaction_part),
    Page(name="memory_compaction_decide", path="settings/memory/compactions/<uuid:uuid>/", view=compaction_decide),
    Page(name="settings", path="settings/", view=settings_page, is_own=True),
    Page(name="apps", path="apps/", view=apps_page),
    Page(name="connect", path="apps/connect/", view=connect_page),
    Page(name="connect_answer", path="apps/connect/answer/", view=connect_answer),
    Page(name="app", path="apps/<uuid:uuid>/", view=app_page),
    Page(name="app_stop", path="apps/<uuid:uuid>/stop/", view=app_stop),
    Page(name="app_let_in", path="apps/<uuid:uuid>/let-in/", view=app_let_in),
    Page(name="app_forget", path="apps/<uuid:uuid>/forget/", view=app_forget_page),
    Page(name="forgetting", path="apps/forgotten/<uuid:uuid>/", view=forgetting_page),
    Page(name="forgetting_state", path="apps/forgotten/<uuid:uuid>/state/", view=forgetting_state),
    Page(name="forgetting_undo", path="apps/forgotten/<uuid:uuid>/undo/", view=forgetting_undo),
)
