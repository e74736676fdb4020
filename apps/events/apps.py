from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "apps.events"
    label = "events"
    verbose_name = "Events"

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.events.personal.stores import STORES
        from apps.events.runs import watch_runs

        register_stores(STORES)
        watch_runs()
