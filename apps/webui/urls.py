"""Addresses of the web UI, below `/`."""

from apps.webui.pages import page_urls
from apps.webui.table import PAGES

app_name = "webui"
urlpatterns = page_urls(PAGES)
