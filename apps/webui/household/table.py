"""The page *Household*."""

from apps.webui.household.page import household_page
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (Page(name="household", path="household/", view=household_page),)
