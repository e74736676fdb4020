"""The site of the admin: whatever is registered there is audited, so that no page can forget it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

from django.contrib.admin import ModelAdmin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string
from unfold.sites import UnfoldAdminSite

from apps.audit.admin.audited import audited


class HubAdminSite(UnfoldAdminSite):
    """unfold's site, with the audit in every ModelAdmin, and without what each page would work out for nothing."""

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Register models as Django does."""
        super().register(model_or_iterable, audited(admin_class or ModelAdmin), **options)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the models by their apps, worked out when a page shows them: the sidebar has a list of its own."""
        found = super().get_app_list
        return cast("list[Any]", SimpleLazyObject(lambda: found(request, app_label)))

    def _get_value(self, value: Any, *args: Any) -> Any:
        """Return what a setting of the theme says, which may be the path of a function: what is none is known."""
        return value if isinstance(value, str) and not is_path(value) else super()._get_value(value, *args)


@lru_cache(maxsize=1_000)
def is_path(text: str) -> bool:
    """Return whether a text is the path of something that can be imported. In vain that takes long."""
    try:
        import_string(text)
    except ImportError:
        return False
    return True
