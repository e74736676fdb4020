from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EpisodicConfig(AppConfig):
    name = "apps.episodic"
    label = "episodic"
    verbose_name = _("Timeline")
