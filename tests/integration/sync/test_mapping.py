"""A source says what its own words mean, by a small document that is validated and previewed."""

from pathlib import Path
from typing import Any

import pytest

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Permission, Scope
from apps.sync import services
from apps.sync.models import SyncKind
from tests.api import api_for
from tests.integration.sync.syncs import OPERATOR, Hub, make_hub

pytestmark = pytest.mark.django_db

MAPPING = {"fields": {"Ripeness": "status"}, "statuses": {"Gone Fishing": "deprecated"}, "kinds": {"text": "rfc"}}
TEXT = "---\ntitle: Lifetimes\nripeness: gone fishing\n---\n\nText.\n"


@pytest.fixture
def rust(tmp_path: Path) -> Hub:
    """Return a source with words of its own."""
    return make_hub(tmp_path, {"text/0141-lifetimes.md": TEXT}, include=["text/*"])


def test_mapping_decides_status_and_id(rust: Hub) -> None:
    rust.sync(SyncKind.FULL)
    assert rust.items["text/0141-lifetimes"].status == "accepted"
    rust.update(mapping=MAPPING)
    assert rust.sync().fallback == "settings_changed"
    assert {key: item.status for key, item in rust.items.items()} == {"RFC-0141": "deprecated"}


def test_dry_run_tries_a_mapping_and_keeps_nothing(rust: Hub) -> None:
    api = api_for(Scope(), Permission.OPERATOR)
    path = f"/api/sync/sources/{rust.source.uuid}/preview"
    tried = api.post(path, {"mapping": MAPPING}).json()
    assert (tried["files"][0]["item"]["item_id"], tried["statuses"]) == ("RFC-0141", {"deprecated": 1})
    assert api.post(path).json()["statuses"] == {"accepted": 1}
    assert api.get(f"/api/sync/sources/{rust.source.uuid}").json()["mapping"] == {}
    unknown = api.post(path, {"mapping": {"fields": {"ripeness": "status"}}}).json()
    assert unknown["statuses"] == {"unknown": 1}


@pytest.mark.parametrize(
    "mapping",
    [
        [], {"titles": {}}, {"fields": []}, {"fields": {"x": "colour"}}, {"statuses": {"x": "nearly"}},
        {"kinds": {"text": "R1"}}, {"statuses": {"": "draft"}}, {"statuses": {str(n): "draft" for n in range(51)}},
    ],
)  # fmt: skip
def test_mapping_is_validated(rust: Hub, mapping: Any) -> None:
    with pytest.raises(InvalidInputError) as refused:
        rust.update(mapping=mapping)
    assert refused.value.attr == "mapping"
    with pytest.raises(InvalidInputError):
        services.sync_preview(access=OPERATOR, uuid=rust.source.uuid, values={"mapping": mapping})


def test_dry_run_tries_no_other_setting(rust: Hub) -> None:
    with pytest.raises(InvalidInputError):
        services.sync_preview(access=OPERATOR, uuid=rust.source.uuid, values={"location": "https://example.org/x"})
