from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ContextConfig(AppConfig):
    name = "apps.context"
    label = "context"
    verbose_name = _("Contexts")
