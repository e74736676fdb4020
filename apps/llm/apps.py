from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LlmConfig(AppConfig):
    name = "apps.llm"
    label = "llm"
    verbose_name = _("Models")

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.llm.personal.stores import STORES

        register_stores(STORES)
