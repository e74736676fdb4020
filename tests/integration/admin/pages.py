"""Reading and using pages of the admin."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse


def address(model: type[Model], page: str, *args: Any) -> str:
    """The address of a model's page: changelist, add, change, or an action of it."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def text_of(client: Client, url: str, **query: Any) -> str:
    """A page that must be there."""
    response = client.get(url, query)
    assert response.status_code == 200, response
    return response.content.decode()


def run(client: Client, action: str, objects: Iterable[Model], **fields: str) -> HttpResponse:
    """Run an action of a list on some of its objects."""
    chosen = list(objects)
    data = {"action": action, "_selected_action": [one.pk for one in chosen], **fields}
    return client.post(address(type(chosen[0]), "changelist"), data, follow=True)
