"""A repository's root does not flood the memory: only documents of known kinds, and a dry run asks for a folder."""

from pathlib import Path

import pytest

from apps.sync import services
from apps.sync.models import KnowledgeFile, SyncKind
from tests.integration.sync.syncs import OPERATOR, Hub, make_hub, path_of, record

pytestmark = pytest.mark.django_db

PROMPT = "---\nname: reviewer\ndescription: Reviews code.\n---\n\nYou are a careful reviewer.\n"
NOISE = {
    "requirements.txt": "django==5.2\n",
    "requirements-dev.txt": "pytest\n",
    "LICENSE-MIT": "Free.\n",
    "LICENSE.txt": "Free.\n",
    "SECURITY.md": "# Security\n\nWrite to us.\n",
    "AGENTS.md": "# Agents\n\nAlways run the tests.\n",
    "prompts/reviewer.md": PROMPT,
    "src/notes.md": "# Notes\n\nSome notes.\n",
    "docs/tutorial.md": "---\ntitle: Tutorial\ntags: [a]\n---\n\n# Tutorial\n\nDo this.\n",
}
KNOWLEDGE = {
    path_of(1): record(1),
    "policies/tls.md": "# TLS\n\nServices speak TLS.\n",
    "docs/events.md": "# Events\n\nStatus: proposed\n\nServices publish.\n",
}


@pytest.fixture
def whole(tmp_path: Path) -> Hub:
    """Return a source that is a whole repository."""
    return make_hub(tmp_path, {**NOISE, **KNOWLEDGE})


def test_only_documents_of_known_kinds_of_a_whole_repository_are_items(whole: Hub) -> None:
    run = whole.sync(SyncKind.FULL)
    assert (run.state, {item.path for item in whole.items.values()}) == ("complete", KNOWLEDGE.keys())
    codes = dict(KnowledgeFile.objects.refused().values_list("path", "code"))
    assert codes["src/notes.md"] == codes["prompts/reviewer.md"] == codes["docs/tutorial.md"] == "unknown_kind"
    assert codes["requirements.txt"] == codes["SECURITY.md"] == "not_an_item"


def test_a_folder_that_is_named_is_read_as_a_whole(whole: Hub) -> None:
    whole.update(folder="src")
    whole.sync(SyncKind.FULL)
    assert {item.path for item in whole.items.values()} == {"src/notes.md"}
    whole.update(folder="", convention="plain")
    whole.sync()
    assert "src/notes.md" in {item.path for item in whole.items.values()}
    assert "requirements.txt" not in {item.path for item in whole.items.values()}


def test_dry_run_asks_for_a_folder_where_most_files_are_noise(whole: Hub) -> None:
    preview = services.sync_preview(access=OPERATOR, uuid=whole.source.uuid)
    assert preview.advice.startswith("Most files are not documents of a known kind: ")
    assert "Name a folder, such as adr" in preview.advice
    tried = services.sync_preview(access=OPERATOR, uuid=whole.source.uuid, values={"folder": "adr"})
    assert (tried.advice, len(tried.files)) == ("", 1)
