from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "apps.audit"
    label = "audit"
    verbose_name = "Audit"

    def ready(self) -> None:
        from apps.audit.personal.stores import STORES
        from apps.audit.recording.settings_models import watch_settings
        from apps.audit.recording.sign_ins import watch_sign_ins
        from apps.core.personal.registry import register_stores

        watch_settings()
        watch_sign_ins()
        register_stores(STORES)
