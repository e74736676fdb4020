"""Files that were not meant to be items leave a sync complete."""

import pytest

from apps.sync import services
from apps.sync.models import KnowledgeFile
from tests.integration.sync.syncs import OPERATOR, Hub, path_of, record

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
