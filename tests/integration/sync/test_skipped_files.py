"""Files that were not meant to be items leave a sync complete."""

from pathlib import Path

import pytest

from apps.sync import services
from apps.sync.models import KnowledgeFile, SyncKind
from tests.integration.sync.syncs import OPERATOR, OWNER, SYSTEM, Hub, path_of, record

pytestmark = pytest.mark.django_db


def test_files_about_a_folder_and_templates_are_no_failure(hub: Hub) -> None:
    hub.write({"README.md": "# Decisions\n", "adr/template.md": "# Title\n\nText.\n"})
    run = hub.sync()
    assert (run.state, run.failed, hub.state.is_complete) == ("complete", 0, True)
    codes = dict(KnowledgeFile.objects.refused().values_list("path", "code"))
    assert codes == {"README.md": "not_an_item", "adr/template.md": "template"}
    preview = services.sync_preview(access=OPERATOR, uuid=hub.source.uuid)
    assert {file.path: file.refused.code for file in preview.files if file.refused} == codes


def test_an_item_that_becomes_a_template_is_gone(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): record(1, status="'{proposed | accepted}'")})
    assert hub.sync().deleted == 1
    assert "ADR-0001" not in hub.memories


def test_harmless_files_are_skipped_with_a_reason(hub: Hub) -> None:
    hub.write({
        "adr/skeleton.md": "---\ntitle: {{ title }}\nstatus: {{ status }}\n---\n\n# {{ title }}\n",
        "templates/adr.md": "---\n{% if x %}\n---\n\nText.\n",
        "adr/words.txt": "",
    })  # fmt: skip
    run = hub.sync()
    assert (run.state, run.failed, hub.state.is_complete) == ("complete", 0, True)
    codes = dict(KnowledgeFile.objects.refused().values_list("path", "code"))
    assert codes == {"adr/skeleton.md": "template", "templates/adr.md": "template", "adr/words.txt": "not_an_item"}
    assert all(KnowledgeFile.objects.refused().values_list("detail", flat=True))


def test_link_to_a_sibling_is_skipped_with_a_reason(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "adr").mkdir(parents=True)
    (folder / "adr/0001.md").write_text(record(1))
    (folder / "adr/latest.md").symlink_to("0001.md")
    values = {"name": "linked", "user_id": OWNER, "kind": "folder", "location": str(folder)}
    source = services.source_create(access=SYSTEM, values=values)
    run = services.sync_run(access=SYSTEM, uuid=source.uuid, kind=SyncKind.FULL)
    assert (run.state, run.added) == ("complete", 1)
    assert dict(KnowledgeFile.objects.refused().values_list("path", "code")) == {"adr/latest.md": "symlink"}


def test_known_bad_file_is_left_out_by_the_source(hub: Hub) -> None:
    hub.write({"adr/0009.md": "---\nid: [\n---\n"})
    assert hub.sync().state == "partial"
    hub.update(exclude=["adr/0009.md"])
    assert hub.sync().state == "complete"
