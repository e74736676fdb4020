"""The list of everything that is known of a person."""

from apps.webui.known.forget import known_bring_back, known_forget
from apps.webui.known.page import known_page
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="known", path="memories/", view=known_page),
    Page(name="known_forget", path="memories/forget/", view=known_forget),
    Page(name="known_bring_back", path="memories/bring-back/", view=known_bring_back),
)
