from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WebUiConfig(AppConfig):
    name = "apps.webui"
    label = "webui"
    verbose_name = _("Web UI")
