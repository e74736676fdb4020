"""Downloads and uploads of a hub of several hosts: what one host writes to the bucket, each of them reads."""

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.core.object_storage.bucket import BucketFolder
from apps.core.personal.registry import personal_stores
from apps.imports.models import Import
from apps.imports.uploads.work import imports_continue
from apps.people.downloads.make import downloads_continue
from apps.people.models import Download
from apps.semantic.models import Memory
from tests.buckets import Wire
from tests.buckets import bucket as bucket
from tests.buckets import bucketed_timeline as bucketed_timeline
from tests.buckets import store_port as store_port
from tests.buckets import wire as wire
from tests.integration.imports.exports import MEM0
from tests.integration.webui.person import ANA, remember

pytestmark = pytest.mark.django_db(transaction=True)
FOLDERS = ("downloads", "uploads")
FILE = ("mem0.json", json.dumps({"results": MEM0}).encode())


class Hosts:
    """This process, which is one host after the other."""

    def __init__(self, place: Path, settings: Any, timeline: BucketFolder) -> None:
        self.place, self.settings = place, settings
        for folder in FOLDERS:
            setattr(settings, f"{folder.upper()}_URL", str(timeline).replace("timeline", folder))

    def be(self, name: str) -> None:
        """Have folders of a host of its own."""
        for folder in FOLDERS:
            setattr(self.settings, f"{folder.upper()}_DIR", self.place / name / folder)

    def kept(self) -> list[str]:
        """What is in the bucket, and on the disk of any host."""
        here = [path.name for path in self.place.rglob("*") if path.is_file()]
        urls = [getattr(self.settings, f"{folder.upper()}_URL") for folder in FOLDERS]
        return sorted([*here, *(name for url in urls for name in BucketFolder.at(url).names())])


@pytest.fixture
def hosts(tmp_path: Path, settings: Any, bucketed_timeline: BucketFolder) -> Hosts:
    return Hosts(tmp_path / "hosts", settings, bucketed_timeline)


def test_what_the_worker_of_one_host_made_another_sends(ana: Client, hosts: Hosts) -> None:
    remember(ANA, "Ana plays the cello")
    hosts.be("first")
    ana.post(reverse("webui:privacy_download"))
    hosts.be("second")
    downloads_continue()
    assert hosts.kept() == [f"{Download.objects.get().uuid}.zip"]
    hosts.be("first")
    link = re.search(r'href="(/privacy/download/[^"]+)"', ana.get(reverse("webui:privacy")).content.decode())
    assert link is not None
    answer = ana.get(link[1])
    whole = b"".join(answer.streaming_content)
    assert len(whole) == int(answer["Content-Length"])
    assert "cello" in ZipFile(BytesIO(whole)).read("memoryhub.jsonl").decode()
    ana.post(reverse("webui:privacy_download_remove"))
    assert hosts.kept() == []


def test_what_one_host_received_the_worker_of_another_brings_in(ana: Client, hosts: Hosts) -> None:
    hosts.be("first")
    ana.post(reverse("webui:bring"), {"file": SimpleUploadedFile(*FILE)})
    record = Import.objects.get()
    assert hosts.kept() == [f"{record.uuid}.upload"]
    hosts.be("second")
    imports_continue()
    record.refresh_from_db()
    assert record.state == "looked"
    hosts.be("first")
    ana.post(reverse("webui:bring_confirm", args=[record.uuid]))
    hosts.be("second")
    imports_continue()
    record.refresh_from_db()
    assert record.state == "done"
    assert Memory.objects.filter(user_id=ANA).count() == record.counts["kept"]["memories"] > 0
    assert hosts.kept() == []


def test_an_upload_that_the_store_does_not_take_leaves_nothing(ana: Client, hosts: Hosts, wire: Wire) -> None:
    hosts.be("first")
    wire.cut()
    answer = ana.post(reverse("webui:bring"), {"file": SimpleUploadedFile(*FILE)}, follow=True)
    assert "could not store the file" in answer.content.decode()
    wire.mend()
    assert not Import.objects.exists()
    assert hosts.kept() == []


def test_a_store_that_goes_away_loses_neither_the_older_file_nor_the_way_on(
    ana: Client, hosts: Hosts, wire: Wire
) -> None:
    hosts.be("first")
    ana.post(reverse("webui:bring"), {"file": SimpleUploadedFile(*FILE)})
    imports_continue()
    wire.cut()
    ana.post(reverse("webui:bring"), {"file": SimpleUploadedFile(*FILE)})
    wire.mend()
    imports_continue()
    assert not Import.objects.exists()
    assert hosts.kept() == []


def test_pages_go_on_while_the_store_is_away(ana: Client, hosts: Hosts, wire: Wire) -> None:
    hosts.be("first")
    ana.post(reverse("webui:privacy_download"))
    downloads_continue()
    ana.post(reverse("webui:bring"), {"file": SimpleUploadedFile(*FILE)})
    Import.objects.update(state="failed")
    wire.cut()
    download, record = Download.objects.get(), Import.objects.get()
    assert ana.get(reverse("webui:bring_import", args=[record.uuid])).status_code == 200
    assert "cannot reach its files" in (
        ana.get(reverse("webui:privacy_file", args=[download.uuid]), follow=True).content.decode()
    )
    assert "The file is removed" in ana.post(reverse("webui:privacy_download_remove"), follow=True).content.decode()
    wire.mend()
    downloads_continue()
    assert hosts.kept() == [f"{record.uuid}.upload"]


def test_a_store_that_is_away_keeps_an_import_waiting(ana: Client, hosts: Hosts, wire: Wire) -> None:
    hosts.be("first")
    ana.post(reverse("webui:bring"), {"file": SimpleUploadedFile(*FILE)})
    wire.cut()
    imports_continue()
    assert (Import.objects.get().state, Import.objects.get().problem) == ("waiting", "files_unreachable")
    wire.mend()
    imports_continue()
    assert (Import.objects.get().state, Import.objects.get().problem) == ("looked", "")


def test_forgetting_a_person_removes_what_every_host_put_there(ana: Client, hosts: Hosts) -> None:
    hosts.be("first")
    ana.post(reverse("webui:bring"), {"file": SimpleUploadedFile(*FILE)})
    ana.post(reverse("webui:privacy_download"))
    downloads_continue()
    assert len(hosts.kept()) == 2
    hosts.be("second")
    for store in personal_stores():
        if store.name in {"downloads", "imports"}:
            list(store.forget(ANA))
            assert list(store.find(ANA)) == []
    assert hosts.kept() == []
