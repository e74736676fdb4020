from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SemanticConfig(AppConfig):
    name = "apps.semantic"
    label = "semantic"
    verbose_name = _("Semantic memory")

    def ready(self) -> None:
        from apps.rules.services import register_figures
        from apps.semantic.conflicts.queue import decisions_by_rule

        register_figures(decisions_by_rule)
