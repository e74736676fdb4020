"""Addresses of the web UI, below `/`."""

from django.urls import path

from apps.webui.install import manifest, offline, service_worker
from apps.webui.pages import page_urls
from apps.webui.table import PAGES

app_name = "webui"
urlpatterns = [
    *page_urls(PAGES),
    # What strangers may see as well: a browser asks for it without a person.
    path("manifest.webmanifest", manifest, name="manifest"),
    path("service-worker.js", service_worker, name="service_worker"),
    path("offline/", offline, name="offline"),
]
