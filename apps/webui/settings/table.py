"""The page *Settings*."""

from apps.webui.pages import Page
from apps.webui.settings.page import settings_page

PAGES: tuple[Page, ...] = (Page(name="settings", path="settings/", view=settings_page, is_own=True),)
