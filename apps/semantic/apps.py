from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SemanticConfig(AppConfig):
    name = "apps.semantic"
    label = "semantic"
    verbose_name = _("Semantic memory")

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.rules.services import register_figures
        from apps.semantic.conflicts.queue import decisions_by_rule
        from apps.semantic.conflicts.sayings import register_sayings
        from apps.semantic.personal.stores import STORES

        register_stores(STORES)
        register_figures(decisions_by_rule)
        register_sayings()
