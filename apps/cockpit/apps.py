from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CockpitConfig(AppConfig):
    name = "apps.cockpit"
    label = "cockpit"
    verbose_name = _("Cockpit")
