from django.apps import AppConfig


class SemanticConfig(AppConfig):
    name = "apps.semantic"
    label = "semantic"
    verbose_name = "Semantic memory"

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.semantic.personal.stores import STORES

        register_stores(STORES)
