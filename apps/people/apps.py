from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PeopleConfig(AppConfig):
    name = "apps.people"
    label = "people"
    verbose_name = _("People")

    def ready(self) -> None:
        from django_q.signals import pre_execute

        from apps.people.erasure.caches import caches_drop

        def before_task(**_: object) -> None:
            caches_drop()

        pre_execute.connect(before_task, weak=False, dispatch_uid="people")
