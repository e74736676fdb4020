from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class GivenConfig(AppConfig):
    name = "apps.given"
    label = "given"
    verbose_name = _("Given answers")
