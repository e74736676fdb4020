"""What a page may run and load: files of this hub and nothing else. `text_of` demands it of each page it reads."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.template import Engine
from django.template.loader import get_template
from django.test import Client
from django.urls import reverse

from apps.cockpit.table import PAGES
from tests.integration.admin.pages import refused_parts, text_of

pytestmark = pytest.mark.django_db

WHOLE = sorted(page.name for page in PAGES if page.title and "<" not in page.path)
OWN = ("mfa_index", "mfa_list_webauthn", "usersessions_list", "account_set_password")
HOSTILE = (
    "<script>1</script>", "<style>a{}</style>", "<img src=x OnError=1>", "<a href=' JavaScript:1'>x</a>",
    "<p style='color:red'>x</p>", "<div hx-on:click='1'></div>", "<button onclick='1'></button>",
)  # fmt: skip


def directives(client: Client, path: str) -> dict[str, str]:
    policy = client.get(path).headers["Content-Security-Policy"]
    return dict(one.split(" ", 1) for one in policy.split("; "))


@pytest.mark.parametrize("path", ["/", "/admin/", "/accounts/login/", "/api/", "/api/docs", "/admin/nothing/"])
def test_no_page_may_run_text_as_code(client: Client, path: str) -> None:
    policy = directives(client, path)
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert not any("unsafe" in value or "*" in value for value in policy.values())


def test_no_page_may_use_devices(client: Client) -> None:
    headers = client.get("/accounts/login/").headers
    assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert {"camera=()", "microphone=()", "geolocation=()"} <= set(headers["Permissions-Policy"].split(", "))
    assert "publickey-credentials-get=(self)" in headers["Permissions-Policy"]


@pytest.mark.parametrize("name", WHOLE)
def test_pages_of_the_cockpit_have_nothing_inline(operator: Client, timeline_dir: Path, name: str) -> None:
    text_of(operator, reverse(f"cockpit_{name}"))


@pytest.mark.parametrize("name", OWN)
def test_pages_of_ones_account_have_nothing_inline(operator: Client, name: str) -> None:
    text_of(operator, reverse(name))


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/api/docs"])
def test_pages_for_those_who_are_signed_out_have_nothing_inline(client: Client, path: str) -> None:
    text_of(client, path)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_inline_is_found(text: str) -> None:
    assert refused_parts(f"<main>{text}</main>") != []


def test_templates_have_nothing_inline() -> None:
    """Also in branches that no test renders."""
    root = settings.BASE_DIR
    templates = [*root.glob("templates/**/*.html"), *root.glob("apps/*/templates/**/*.html")]
    found = {str(path.relative_to(root)): refused_parts(re.sub(r"{%.*?%}", "", path.read_text())) for path in templates}
    assert {path: parts for path, parts in found.items() if parts} == {}


def test_borrowed_parts_of_the_theme_have_nothing_inline() -> None:
    """What a template of the hub includes from the theme, which has a few parts with inline styles."""
    root = settings.BASE_DIR
    texts = [path.read_text() for path in (*root.glob("templates/**/*.html"), *root.glob("apps/*/templates/**/*.html"))]
    names = set(re.findall(r'(?:include|component) "(unfold/[^"]+)"', "".join(texts)))
    found = {
        name: refused_parts(re.sub(r"{%.*?%}", "", Engine.get_default().get_template(name).source)) for name in names
    }
    assert len(names) > 10
    assert {name: parts for name, parts in found.items() if parts} == {}


def test_every_file_of_the_layout_is_there() -> None:
    """A layout that replaces the theme's own must follow it."""
    layout = get_template("unfold/layouts/skeleton.html").template.source
    files = re.findall(r"{% static ['\"]([^'\"]+)", layout)
    assert len(files) > 10
    assert [name for name in files if finders.find(name) is None] == []
