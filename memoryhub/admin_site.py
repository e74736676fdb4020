"""The site of the admin: whatever is registered there is audited, so that no page can forget it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import Model
from unfold.sites import UnfoldAdminSite

from apps.audit.admin.audited import audited


class HubAdminSite(UnfoldAdminSite):
    """unfold's site, with the audit in every ModelAdmin."""

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Register models as Django does."""
        super().register(model_or_iterable, audited(admin_class or ModelAdmin), **options)
