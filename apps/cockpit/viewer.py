"""Who looks at a page: whether the account sees the whole hub."""

from django.http import HttpRequest

from apps.core.admin.kit import may_view
from apps.core.bounds import is_bound


def may_view_hub(request: HttpRequest, model: str) -> bool:
    """Return whether the viewer may view what concerns the whole hub, and belongs to no scope."""
    return not is_bound(request.user) and may_view(request, model)
