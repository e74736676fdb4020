from django.apps import AppConfig


class NotesConfig(AppConfig):
    name = "apps.notes"
    label = "notes"
    verbose_name = "Notes"

    def ready(self) -> None:
        from apps.core.personal.registry import register_stores
        from apps.notes.personal.stores import STORES

        register_stores(STORES)
