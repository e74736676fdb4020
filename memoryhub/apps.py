"""The composition root as a Django app, so that its management commands and checks are found."""

from django.apps import AppConfig


class MemoryHubConfig(AppConfig):
    name = "memoryhub"
    verbose_name = "MemoryHub"

    def ready(self) -> None:
        from memoryhub import checks  # noqa: F401  (importing registers them)
