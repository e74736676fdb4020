"""Addresses of the cockpit, below /admin/."""

from apps.cockpit.pages import page_urls
from apps.cockpit.table import PAGES as PAGES

urlpatterns = page_urls(PAGES)
