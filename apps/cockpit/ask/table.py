"""The page *Ask*."""

from apps.cockpit.ask.page import ask_page
from apps.cockpit.pages import Page

PAGES: tuple[Page, ...] = (
    Page(
        name="ask",
        path="ask/",
        view=ask_page,
        permissions=("semantic.view_memory",),
        title="Ask",
        icon="quiz",
        words="search question recall debug explain missing why",
    ),
)
