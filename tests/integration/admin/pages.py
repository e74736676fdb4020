"""Reading and using pages of the admin."""

from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any

from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse


def address(model: type[Model], page: str, *args: Any) -> str:
    """The address of a model's page: changelist, add, change, or an action of it."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


class Inline(HTMLParser):
    """Finds what the policy of contents refuses to run or to apply: it allows files of the hub only."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        is_data = given.get("type") in {"application/json", "text/template"}
        if tag == "style" or (tag == "script" and "src" not in given and not is_data):
            self.found.append(f"<{tag}>")
        for name, value in given.items():
            if name.startswith(("on", "hx-on")) or name == "style" or value.lower().lstrip().startswith("javascript:"):
                self.found.append(f"<{tag} {name}={value}>")


def refused_parts(text: str) -> list[str]:
    """Scripts and styles inside a page, which browsers refuse."""
    inline = Inline()
    inline.feed(text)
    return inline.found


def text_of(client: Client, url: str, **query: Any) -> str:
    """A page that must be there, and that browsers show and run as it is."""
    response = client.get(url, query)
    assert response.status_code == 200, response
    text = response.content.decode()
    assert refused_parts(text) == []
    return text


def run(client: Client, action: str, objects: Iterable[Model], **fields: str) -> HttpResponse:
    """Run an action of a list on some of its objects."""
    chosen = list(objects)
    data = {"action": action, "_selected_action": [one.pk for one in chosen], **fields}
    return client.post(address(type(chosen[0]), "changelist"), data, follow=True)
