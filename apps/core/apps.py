from django.apps import AppConfig
from django.db.backends.signals import connection_created


class CoreConfig(AppConfig):
    name = "apps.core"
    label = "core"
    verbose_name = "Core"

    def ready(self) -> None:
        from apps.core.db.identity import check_new_connection
        from apps.core.personal.registry import register_stores
        from apps.core.personal.stores import STORES

        connection_created.connect(check_new_connection)
        register_stores(STORES)
