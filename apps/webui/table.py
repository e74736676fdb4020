"""The one table of the pages and fragments of the web UI."""

from apps.core.schemas.bodies import upload_limit
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
from apps.webui.applications.sign_in import sign_in_answered, sign_in_page
from apps.webui.ask import ask_page
from apps.webui.bring.page import bring_confirm, bring_drop, bring_page, bring_undo, import_page, import_state
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
    Page("home", "", home_page),
    Page("home_latest", "home/latest/", fragment("webui/home/latest.html", known), part_of="home"),
    Page("alarms", "home/alarms/", alarms, part_of=""),
    Page("home_learned", "home/learned/", fragment("webui/home/learned.html", just_learned), part_of="home"),
    Page("learned_undo", "home/learned/<uuid:uuid>/undo/", learned_take_back),
    Page("tell", "home/tell/", tell),
    Page("pause", "pause/", pause),
    Page("go_on", "pause/end/", go_on),
    Page("ask", "ask/", ask_page),
    Page("known", "memories/", known_page),
    Page("known_forget", "memories/forget/", known_forget),
    Page("known_bring_back", "memories/bring-back/", known_bring_back),
    Page("memory", "memories/<uuid:uuid>/", memory_page),
    Page("memory_correct", "memories/<uuid:uuid>/correct/", memory_correct),
    Page("memory_forget", "memories/<uuid:uuid>/forget/", memory_forget),
    Page("memory_restore", "memories/<uuid:uuid>/restore/", memory_restored),
    Page("memory_keep_for", "memories/<uuid:uuid>/keep-for/", memory_keep_for),
    Page("memory_both_true", "memories/<uuid:uuid>/both-true/", memory_both_true),
    Page("memory_this_true", "memories/<uuid:uuid>/this-true/", memory_this_true),
    Page("decision_undo", "decisions/<uuid:uuid>/undo/", decision_take_back),
    Page("memory_still_true", "memories/<uuid:uuid>/still-true/", memory_still_true),
    Page("clear_up", "clear-up/", clear_up_page),
    Page("decided", "clear-up/decided/", decided_page),
    Page("clear_up_badge", "clear-up/badge/", fragment("webui/clear_up/badge.html", badge_of), part_of=""),
    Page("clear_up_undo", "clear-up/undo/", clear_up_undo),
    Page("clear_up_answer", "clear-up/<uuid:uuid>/", clear_up_answer),
    # A span is `all`, a year, a month or a day: `2026`, `2026-11`, `2026-11-23`.
    Page("days", "days/", days_page),
    Page("days_event", "days/event/<uuid:uuid>/", event_page),
    Page("days_event_forget", "days/event/<uuid:uuid>/forget/", event_forget),
    Page("days_span", "days/<str:span>/", span_page),
    Page("days_forget", "days/<str:span>/forget/", forget_page),
    Page("days_copy", "days/<str:span>/copy/", copy_file, is_own=True),
    Page("household", "household/", household_page),
    Page("notes", "notes/", notes_page),
    Page("notes_search", "notes/search/", search_page),
    Page("notes_today", "notes/today/", today_append),
    Page("note_preview", "notes/preview/", preview_part),
    Page("note", "notes/read/<path:path>/", note_page),
    Page("note_edit", "notes/edit/<path:path>/", edit_page),
    Page("note_versions", "notes/versions/<path:path>/", versions_page),
    Page("note_version", "notes/version/<uuid:uuid>/", version_page),
    Page("note_restore", "notes/version/<uuid:uuid>/restore/", version_restore),
    Page("bring", "bring/", bring_page, body_limit=upload_limit),
    Page("bring_import", "bring/<uuid:uuid>/", import_page),
    Page("bring_state", "bring/<uuid:uuid>/state/", import_state, part_of="bring"),
    Page("bring_confirm", "bring/<uuid:uuid>/confirm/", bring_confirm),
    Page("bring_drop", "bring/<uuid:uuid>/drop/", bring_drop),
    Page("bring_undo", "bring/<uuid:uuid>/undo/", bring_undo),
    Page("privacy", "privacy/", privacy_page),
    Page("privacy_download", "privacy/download/", download_ask),
    Page(
        "privacy_download_state",
        "privacy/download/state/",
        fragment("webui/privacy/download.html", shown_download),
        part_of="privacy",
    ),
    Page("privacy_download_remove", "privacy/download/remove/", download_throw_away),
    Page("privacy_file", "privacy/download/<uuid:uuid>/", download_file, is_own=True),
    Page("privacy_looked", "privacy/looked/", looked_page),
    Page("privacy_forget", "privacy/forget/", privacy_forget_page),
    Page("privacy_take_back", "privacy/forget/take-back/", take_back),
    Page("forgotten", "forgotten/<uuid:uuid>/", forgotten_page, is_public=True),
    Page("memory_settings", "settings/memory/", memory_settings_page),
    Page("memory_settings_save", "settings/memory/save/<slug:part>/", part_save),
    Page("memory_settings_search", "settings/memory/search/", settings_search),
    Page("memory_compact", "settings/memory/compact/", compact_now),
    Page("memory_compaction", "settings/memory/compaction/", compaction_part),
    Page("memory_compaction_decide", "settings/memory/compactions/<uuid:uuid>/", compaction_decide),
    Page("settings", "settings/", settings_page, is_own=True),
    Page("apps", "apps/", apps_page),
    Page("connect", "apps/connect/", connect_page),
    Page("connect_answer", "apps/connect/answer/", connect_answer),
    Page("sign_in", "apps/sign-in/", sign_in_page, is_own=True),
    Page("sign_in_answer", "apps/sign-in/answer/", sign_in_answered, is_own=True),
    Page("app", "apps/<uuid:uuid>/", app_page),
    Page("app_stop", "apps/<uuid:uuid>/stop/", app_stop),
    Page("app_let_in", "apps/<uuid:uuid>/let-in/", app_let_in),
    Page("app_forget", "apps/<uuid:uuid>/forget/", app_forget_page),
    Page("forgetting", "apps/forgotten/<uuid:uuid>/", forgetting_page),
    Page("forgetting_state", "apps/forgotten/<uuid:uuid>/state/", forgetting_state),
    Page("forgetting_undo", "apps/forgotten/<uuid:uuid>/undo/", forgetting_undo),
)
