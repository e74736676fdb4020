from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MonitorConfig(AppConfig):
    name = "apps.monitor"
    label = "monitor"
    verbose_name = _("Numbers over time")
