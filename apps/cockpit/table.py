"""The one table of the cockpit's pages and fragments."""

from apps.cockpit.pages import Page
from apps.cockpit.work.table import PAGES as WORK

PAGES: tuple[Page, ...] = (*WORK,)
