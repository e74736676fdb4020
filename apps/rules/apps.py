from django.apps import AppConfig


class RulesConfig(AppConfig):
    name = "apps.rules"
    label = "rules"
    verbose_name = "Conflict rules"

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.rules.personal.stores import STORES

        register_stores(STORES)
