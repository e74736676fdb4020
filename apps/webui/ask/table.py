"""The page *Ask*."""

from apps.webui.ask.page import ask_page
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (Page(name="ask", path="ask/", view=ask_page),)
