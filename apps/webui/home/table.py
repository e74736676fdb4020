"""The page *Home*."""

from apps.webui.home.page import home_latest, home_page
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="home", path="", view=home_page),
    Page(name="home_latest", path="home/latest/", view=home_latest),
)
