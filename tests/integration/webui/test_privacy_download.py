"""A person downloads everything: made in the background, for them alone, and kept for a while."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from apps.core.db.user_locks import lock_user
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.people.downloads import make
from apps.people.downloads.make import download_make, downloads_continue
from apps.people.downloads.request import KEPT, ZIP, download_request, file_of, progress_write
from apps.people.models import Download
from tests.api import api_for
from tests.integration.webui.person import ANA, BEN, browser_of, remember

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("downloads_dir", "timeline_dir")]
PAGE, ASK = reverse("webui:privacy"), reverse("webui:privacy_download")
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def asked(user: str = ANA, **fields: Any) -> Download:
    return download_request(**{"user_id": user, "language": "en", "time_zone": "Asia/Taipei", **fields})


def later(**span: float) -> DeterministicClock:
    return DeterministicClock(round((utcnow(SYSTEM_CLOCK) + timedelta(**span)).timestamp() * 1000))


def taken(browser: Client) -> ZipFile:
    """Make what was asked for, and download it as the page offers it."""
    downloads_continue()
    link = re.search(r'href="(/privacy/download/[^"]+)"', browser.get(PAGE).content.decode())
    assert link is not None
    answer = browser.get(link[1])
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]
    assert "no-store" in answer["Cache-Control"]
    return ZipFile(BytesIO(b"".join(answer.streaming_content)))


def test_all_that_is_theirs_is_in_one_file_and_nothing_of_others(ana: Client) -> None:
    remember(ANA, "Ana plays the cello")
    remember(BEN, "Ben plays the harp")
    event = {"timestamp": "2026-03-04T12:00:00Z", "event_type": "visit", "content": "Ana met Hana.", "user_id": ANA}
    assert api_for(Scope()).post("/api/episodic/events", event).status_code == 201
    assert "Your file is being made" in ana.post(ASK, follow=True).content.decode()
    archive = taken(ana)
    lines = [json.loads(line) for line in archive.read("memoryhub.jsonl").splitlines()]
    contents = {line.get("content") for line in lines}
    assert {"Ana plays the cello", "Ana met Hana."} <= contents
    assert lines[-1]["complete"] is True
    pages = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".html")}
    assert "Ana plays the cello" in pages["memories-1.html"]
    assert "Ana met Hana." in pages["days-1.html"]
    assert 'href="memories-1.html"' in pages["index.html"]
    assert "Ben" not in "".join(pages.values()) + archive.read("memoryhub.jsonl").decode()


def test_of_several_hosts_the_one_that_was_asked_makes_it(ana: Client, settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://hub@db.example.org/hub")
    remember(ANA, "Ana grows saffron")
    here = Path(settings.DOWNLOADS_DIR)
    ana.post(ASK)
    settings.DOWNLOADS_DIR = here.parent / "another host"
    downloads_continue()
    assert Download.objects.get().state == "waiting"
    settings.DOWNLOADS_DIR = here
    assert taken(ana).namelist()
    assert [path.suffix for path in here.iterdir()] == [ZIP]


def test_a_host_that_was_asked_and_is_gone_is_not_waited_for_and_the_page_says_where_the_file_is(
    ana: Client, settings: Any
) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://hub@db.example.org/hub")
    here = Path(settings.DOWNLOADS_DIR)
    ana.post(ASK)
    settings.DOWNLOADS_DIR = here.parent / "another host"
    downloads_continue(clock=later(minutes=11))
    assert Download.objects.get().state == "ready"
    settings.DOWNLOADS_DIR = here
    answer = ana.get(reverse("webui:privacy_file", args=[Download.objects.get().uuid]), follow=True)
    assert answer.redirect_chain == [(f"{PAGE}#download", 302)]
    assert "on another machine of this hub, or gone" in answer.content.decode()


def test_its_pages_run_nothing_and_load_nothing(ana: Client) -> None:
    remember(ANA, HOSTILE)
    asked()
    archive = taken(ana)
    for name in archive.namelist():
        if name.endswith(".html"):
            page = archive.read(name).decode()
            assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
            assert not re.search(r"<script|<img|<[^>]*\s(on\w+|src)=|https?://", page)
    assert "&lt;script&gt;" in archive.read("memories-1.html").decode()


def test_it_is_in_the_language_and_time_zone_of_the_person(ana: Client) -> None:
    event = {"timestamp": "2026-03-04T20:00:00Z", "event_type": "visit", "content": "Hana.", "user_id": ANA}
    api_for(Scope()).post("/api/episodic/events", event)
    asked(language="de")
    page = taken(ana).read("days-1.html").decode()
    assert '<html lang="de"' in page
    assert "5. März 2026 04:00" in page


def test_the_file_of_another_person_is_not_there(ana: Client) -> None:
    remember(BEN, "Ben plays the harp")
    theirs = asked(BEN)
    downloads_continue()
    address = reverse("webui:privacy_file", args=[theirs.uuid])
    assert ana.get(address).status_code == 404
    assert str(theirs.uuid) not in ana.get(PAGE).content.decode()
    assert Client().get(address).status_code == 302
    assert browser_of(BEN).get(address).status_code == 200


def test_it_is_for_its_owner_on_the_disk_too(downloads_dir: Path) -> None:
    one = asked()
    downloads_continue()
    assert [path.name for path in downloads_dir.iterdir()] == [f"{one.uuid}.zip"]
    assert file_of(one.uuid, ZIP).stat().st_mode & 0o777 == 0o600
    assert downloads_dir.stat().st_mode & 0o777 == 0o700


def test_it_is_removed_when_its_time_is_over(ana: Client, downloads_dir: Path) -> None:
    one = asked()
    downloads_continue()
    address = reverse("webui:privacy_file", args=[one.uuid])
    downloads_continue(clock=later(days=KEPT.days - 0.1))
    assert ana.get(address).status_code == 200
    Download.objects.update(until=utcnow(SYSTEM_CLOCK))
    assert ana.get(address).status_code == 404
    downloads_continue()
    assert not Download.objects.exists()
    assert list(downloads_dir.iterdir()) == []


def test_a_new_one_takes_the_place_of_the_old_one(ana: Client, downloads_dir: Path) -> None:
    first = asked()
    assert asked().pk == first.pk
    downloads_continue()
    ana.post(ASK)
    assert list(downloads_dir.iterdir()) == []
    second = Download.objects.get()
    assert second.uuid != first.uuid
    downloads_continue()
    ana.post(reverse("webui:privacy_download_remove"))
    assert list(downloads_dir.iterdir()) == []
    assert not Download.objects.exists()


def test_the_page_says_how_far_it_is(ana: Client, downloads_dir: Path) -> None:
    one = asked()
    assert "is waiting to be made" in ana.get(PAGE).content.decode()
    Download.objects.update(state="making", total=200)
    downloads_dir.mkdir()
    progress_write(one.uuid, 150)
    part = ana.get(reverse("webui:privacy_download_state")).content.decode()
    assert "being made: 75%" in part
    assert "<html" not in part


def test_one_whose_process_was_killed_is_made_again(ana: Client, downloads_dir: Path) -> None:
    remember(ANA, "Ana plays the cello")
    one = asked()

    def die(step: str) -> None:
        if step == "lines":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_make(download_id=one.pk, step=die)
    assert Download.objects.get().state == "making"
    assert list(downloads_dir.iterdir()) != []
    assert "cello" in taken(ana).read("memoryhub.jsonl").decode()
    assert [path.suffix for path in downloads_dir.iterdir()] == [".zip"]


def test_one_that_is_removed_while_it_is_made_leaves_nothing(downloads_dir: Path) -> None:
    remember(ANA, "Ana plays the cello")
    one = asked()

    def remove(step: str) -> None:
        if step == "begun":
            Download.objects.all().delete()

    download_make(download_id=one.pk, step=remove)
    assert list(downloads_dir.iterdir()) == []
    assert not Download.objects.exists()


def test_what_cannot_be_read_now_is_tried_again(monkeypatch: Any) -> None:
    one = asked()

    def fail(*_: Any) -> None:
        raise MemoryHubError("busy")

    monkeypatch.setattr(make, "write_file", fail)
    for _ in range(make.MAX_TRIES - 1):
        downloads_continue()
        assert Download.objects.get(pk=one.pk).state == "waiting"
    downloads_continue()
    assert Download.objects.get(pk=one.pk).state == "failed"


def test_a_fault_is_said_without_a_content(ana: Client, monkeypatch: Any, caplog: Any) -> None:
    asked()

    said = "Ana plays the cello"

    def fail(*_: Any) -> None:
        raise ValueError(said)

    monkeypatch.setattr(make, "write_file", fail)
    downloads_continue()
    assert "could not be made" in ana.get(PAGE).content.decode()
    assert "ValueError" in caplog.text
    assert "cello" not in caplog.text


def test_nothing_is_made_for_one_who_is_being_forgotten(ana: Client) -> None:
    with transaction.atomic():
        lock_user(ANA, utcnow(SYSTEM_CLOCK))
    assert "being forgotten" in ana.post(ASK, follow=True).content.decode()
    assert not Download.objects.exists()


def test_a_long_life_is_on_pages_of_a_few_hundred(ana: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr("apps.people.downloads.book.ENTRIES_ON_PAGE", 2)
    for number in range(5):
        remember(ANA, f"Ana read book number {number} of {number * 7} pages")
    asked()
    archive = taken(ana)
    names = [name for name in archive.namelist() if name.startswith("memories")]
    assert names == ["memories-1.html", "memories-2.html", "memories-3.html"]
    assert 'href="memories-1.html"' in archive.read("memories-2.html").decode()
