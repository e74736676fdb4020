from typing import Any

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import class_prepared
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _

from apps.core.model_words import mark_words


class CoreConfig(AppConfig):
    name = "apps.core"
    label = "core"
    verbose_name = _("Core")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The configurations of all apps are made before any model is.
        class_prepared.connect(mark_words)

    def ready(self) -> None:
        from apps.core.db.identity import check_new_connection
        from apps.core.pages.refusals import REFUSALS
        from apps.core.pages.sayings import SAYINGS

        connection_created.connect(check_new_connection)
        SAYINGS.add(REFUSALS)
        # What each app has of them: stores of personal data, and sentences that it stores.
        autodiscover_modules("personal.stores", "sayings")
