"""The composition root as a Django app, so that its management commands and checks are found."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class MemoryHubConfig(AppConfig):
    default = True
    name = "memoryhub"
    verbose_name = "MemoryHub"

    def ready(self) -> None:
        from memoryhub import checks  # noqa: F401  (importing registers them)


class HubAdminConfig(admin_apps.AdminConfig):
    """Django's admin with the site of the hub."""

    default = False
    default_site = "memoryhub.admin_site.HubAdminSite"
