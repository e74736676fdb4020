"""The page *Settings > Memory* and its parts."""

from apps.webui.memory_settings.compaction import compact_now, compaction_decide, compaction_part
from apps.webui.memory_settings.page import part_save, settings_page, settings_search
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="memory_settings", path="settings/memory/", view=settings_page),
    Page(name="memory_settings_save", path="settings/memory/save/<slug:part>/", view=part_save),
    Page(name="memory_settings_search", path="settings/memory/search/", view=settings_search),
    Page(name="memory_compact", path="settings/memory/compact/", view=compact_now),
    Page(name="memory_compaction", path="settings/memory/compaction/", view=compaction_part),
    Page(name="memory_compaction_decide", path="settings/memory/compactions/<uuid:uuid>/", view=compaction_decide),
)
