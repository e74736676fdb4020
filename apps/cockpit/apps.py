from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CockpitConfig(AppConfig):
    name = "apps.cockpit"
    label = "cockpit"
    verbose_name = _("Cockpit")

    def ready(self) -> None:
        from apps.cockpit import sayings  # noqa: F401  (importing adds them)
