from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SyncConfig(AppConfig):
    name = "apps.sync"
    label = "sync"
    verbose_name = _("Knowledge sync")

    def ready(self) -> None:
        from apps.semantic.services import manager_register, successors_register
        from apps.sync.models import KnowledgeSource
        from apps.sync.runs.pointers import find_pointers

        manager_register("sync", lambda manager: KnowledgeSource.objects.with_manager(manager).exists())
        successors_register("sync", find_pointers)
