from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EventsConfig(AppConfig):
    name = "apps.events"
    label = "events"
    verbose_name = _("Events")

    def ready(self) -> None:
        from apps.events.runs import watch_runs

        watch_runs()
