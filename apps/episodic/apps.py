from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EpisodicConfig(AppConfig):
    name = "apps.episodic"
    label = "episodic"
    verbose_name = _("Timeline")

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.episodic.personal.stores import STORES
        from apps.episodic.queries.sayings import register_sayings

        register_stores(STORES)
        register_sayings()
