from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class LiveConfig(AppConfig):
    name = "apps.live"
    label = "live"
    verbose_name = _("Live push")

    def ready(self) -> None:
        from apps.live.triggers import install_triggers

        # When all migrations are done the signal is sent once for each app that has models: core's will do.
        post_migrate.connect(install_triggers, sender=apps.get_app_config("core"), dispatch_uid="live triggers")
