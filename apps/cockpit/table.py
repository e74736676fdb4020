"""The one table of the cockpit's pages and fragments."""

from apps.cockpit.pages import Page

PAGES: tuple[Page, ...] = ()
