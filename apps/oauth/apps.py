from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OauthConfig(AppConfig):
    name = "apps.oauth"
    label = "oauth"
    verbose_name = _("Sign-in of apps")
