"""Who looks at a page: what the person may view, and whether the account sees the whole hub."""

from django.http import HttpRequest


def may_view(request: HttpRequest, model: str) -> bool:
    """Return whether the viewer may view or change a model, written as `app.model`."""
    app, name = model.split(".")
    user = request.user
    return user.has_perm(f"{app}.view_{name}") or user.has_perm(f"{app}.change_{name}")


def is_bound(request: HttpRequest) -> bool:
    """Return whether the account of the viewer sees only a part of the hub."""
    account = getattr(request.user, "account", None)
    return account is not None and account.is_bound


def may_view_hub(request: HttpRequest, model: str) -> bool:
    """Return whether the viewer may view what concerns the whole hub, and belongs to no scope."""
    return not is_bound(request) and may_view(request, model)
