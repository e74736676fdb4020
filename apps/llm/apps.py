from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "apps.llm"
    label = "llm"
    verbose_name = "Models"

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.llm.personal.stores import STORES

        register_stores(STORES)
