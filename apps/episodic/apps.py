from django.apps import AppConfig


class EpisodicConfig(AppConfig):
    name = "apps.episodic"
    label = "episodic"
    verbose_name = "Timeline"

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.episodic.personal.stores import STORES

        register_stores(STORES)
