from django.apps import AppConfig


class SyncConfig(AppConfig):
    name = "apps.sync"
    label = "sync"
    verbose_name = "Knowledge sync"

    def ready(self) -> None:
        from apps.semantic.services import manager_register
        from apps.sync.models import KnowledgeSource

        manager_register("sync", lambda manager: KnowledgeSource.objects.with_manager(manager).exists())
