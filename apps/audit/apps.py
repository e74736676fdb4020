from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "apps.audit"
    label = "audit"
    verbose_name = _("Audit")

    def ready(self) -> None:
        from apps.audit.recording.settings_models import watch_settings
        from apps.audit.recording.sign_ins import watch_sign_ins

        watch_settings()
        watch_sign_ins()
