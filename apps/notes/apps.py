from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotesConfig(AppConfig):
    name = "apps.notes"
    label = "notes"
    verbose_name = _("Notes")

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.notes.personal.stores import STORES
        from apps.notes.sayings import register_sayings

        register_stores(STORES)
        register_sayings()
