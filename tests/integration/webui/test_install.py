"""What a browser is given to install the web UI, and that nothing of it is a person's."""

import json
import re

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse

from tests.integration.webui.person import ANA, browser_of, remember

PUBLIC = ("manifest", "service_worker", "offline")


def test_a_page_names_the_manifest_and_both_colours(ana: Client) -> None:
    page = ana.get("/").content.decode()
    assert f'<link rel="manifest" href="{reverse("webui:manifest")}" crossorigin="use-credentials">' in page
    assert page.count('<meta name="theme-color"') == 2
    assert "webui/install.js" in page


def test_the_manifest_names_icons_that_exist(client: Client, db: None) -> None:
    answer = client.get(reverse("webui:manifest"))
    assert answer["Content-Type"] == "application/manifest+json"
    described = json.loads(answer.content)
    assert (described["start_url"], described["scope"], described["display"]) == ("/", "/", "standalone")
    assert {"any", "maskable"} == {icon["purpose"] for icon in described["icons"]}
    for icon in described["icons"]:
        assert finders.find(icon["src"].removeprefix(settings.STATIC_URL)), icon


def test_the_worker_is_at_the_root_and_keeps_the_offline_page(client: Client, db: None) -> None:
    answer = client.get("/service-worker.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert "no-cache" in answer["Cache-Control"]
    kept = json.loads(re.search(r"const KEPT = (\[.*\]);", answer.content.decode())[1])
    assert kept[0] == reverse("webui:offline")
    assert all(address.startswith(settings.STATIC_URL) for address in kept[1:])
    page = client.get(kept[0]).content.decode()
    loaded = re.findall(r'(?:<link|<script|<img)[^>]* (?:href|src)="([^"]+)"', page)
    assert set(loaded) <= set(kept)


@pytest.mark.parametrize("name", PUBLIC)
def test_it_is_the_same_for_everybody(name: str, db: None) -> None:
    remember(ANA, "Ana likes tea")
    theirs, strangers = (browser.get(reverse(f"webui:{name}")) for browser in (browser_of(ANA), Client()))
    assert theirs.status_code == strangers.status_code == 200
    assert theirs.content == strangers.content


def test_a_worker_may_only_be_a_file_of_the_hub(client: Client, db: None) -> None:
    assert "worker-src 'self'" in client.get("/")["Content-Security-Policy"]
