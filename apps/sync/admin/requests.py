"""Requests of syncs by people in the admin."""

from django.contrib import messages
from django.http import HttpRequest

from apps.core.admin.kit import operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.sync.models import KnowledgeSource, SyncKind, SyncRun
from apps.sync.services import sync_request


def request_run(request: HttpRequest, source: KnowledgeSource, kind: SyncKind, item_id: str = "") -> SyncRun | None:
    """Request a sync; a refusal is shown with its reason, and answered with None."""
    try:
        return sync_request(access=operator_access(request), uuid=source.uuid, kind=kind, item_id=item_id)
    except MemoryHubError as error:
        messages.error(request, f"{source.name}: {say(str(error.detail))}")
        return None
