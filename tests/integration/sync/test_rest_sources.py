"""Sources over REST: who may see, create, change, pause and sync them."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.sync.models import KnowledgeSource, SyncRun, SyncState
from tests.api import Api, api_for, error_attrs

pytestmark = pytest.mark.django_db

SOURCES = "/api/sync/sources"
OWNER = "team:platform"
NEW = {"name": "decisions", "user_id": OWNER, "kind": "git", "location": "https://git.example.org/decisions.git"}


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


@pytest.fixture
def source(operator: Api) -> dict[str, Any]:
    """A source of the team."""
    return created(operator)


def created(api: Api, **values: Any) -> dict[str, Any]:
    """Create a source and return it as the API shows it."""
    answer = api.post(SOURCES, {**NEW, **values})
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_source_is_created_with_all_that_it_takes_and_shown_so(operator: Api) -> None:
    given = {
        "project": "atlas",
        "branch": "main",
        "folder": "docs/adr",
        "include": ["**/*.md"],
        "exclude": ["**/drafts/**"],
        "layer": "org",
        "convention": "decision_record",
        "resolutions": {"orphaned_pointer": "manual"},
        "credentials": "forge",
        "webhook_secret": "hook",
        "staleness_seconds": 21_600,
        "session_threshold": 10,
        "daily_at": "03:00",
        "max_items": 100,
        "enabled": True,
    }
    answer = operator.post(SOURCES, {**NEW, **given})
    source = answer.json()
    assert (answer.status_code, answer["Location"]) == (201, f"{SOURCES}/{source['id']}")
    assert {name: source[name] for name in (*NEW, *given)} == {**NEW, **given}
    assert source["webhook"] == f"/api/sync/webhooks/{source['id']}"
    assert operator.get(answer["Location"]).json() == source


def test_a_change_leaves_what_it_does_not_name(operator: Api, source: dict[str, Any]) -> None:
    changes = {"staleness_seconds": 3_600, "daily_at": None, "resolutions": {"hash_mismatch": "keep_memory"}}
    changed = operator.patch(f"{SOURCES}/{source['id']}", changes).json()
    assert changed == {**source, **changes, "staleness": "1h", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > source["updated_at"]


@pytest.mark.parametrize(
    ("values", "attr"),
    [
        ({"name": "a/b"}, "name"),
        ({"name": 7}, "name"),
        ({"kind": "svn"}, "kind"),
        ({"layer": "planet"}, "layer"),
        ({"include": ["x"] * 51}, "include"),
        ({"daily_at": "3am"}, "daily_at"),
        ({"daily_at": "24:00"}, "daily_at"),
        ({"resolutions": {"mood": "manual"}}, "resolutions.mood"),
        ({"resolutions": {"orphaned_pointer": "shrug"}}, "resolutions.orphaned_pointer"),
        ({"staleness_seconds": 0}, "staleness_seconds"),
        ({"session_threshold": "10"}, "session_threshold"),
        ({"max_items": True}, "max_items"),
        ({"credentials": "../passwd"}, "credentials"),
        ({"password": "secret"}, "password"),
        ({"location": ""}, "location"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_name(operator: Api, values: dict[str, Any], attr: str) -> None:
    answer = operator.post(SOURCES, {**NEW, **values})
    assert (answer.status_code, error_attrs(answer)) == (400, [attr])
    assert not KnowledgeSource.objects.exists()


def test_a_name_is_there_once(operator: Api, source: dict[str, Any]) -> None:
    answer = operator.post(SOURCES, NEW)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (409, "exists")


def test_owner_and_kind_of_a_source_stay(operator: Api, source: dict[str, Any]) -> None:
    for values in ({"user_id": "ana"}, {"kind": "folder"}):
        assert operator.patch(f"{SOURCES}/{source['id']}", values).status_code == 400


def test_a_key_that_writes_cannot_configure(source: dict[str, Any]) -> None:
    api, path = api_for(Scope(OWNER)), f"{SOURCES}/{source['id']}"
    before = KnowledgeSource.objects.values().get()
    assert api.post(SOURCES, {**NEW, "name": "mine"}).status_code == 403
    assert api.patch(path, {"location": "https://other.example.org/x.git"}).status_code == 403
    assert api.delete(path).status_code == 403
    for action, body in (("pause", {}), ("resume", None), ("rollback", {"checkpoint": str(uuid4())})):
        assert api.post(f"{path}/{action}", body).status_code == 403, action
    assert KnowledgeSource.objects.values().get() == before


def test_a_key_that_reads_by_a_grant_sees_the_source_and_cannot_sync_it(source: dict[str, Any]) -> None:
    api, path = api_for(Scope("ana"), reads=[OWNER]), f"{SOURCES}/{source['id']}"
    seen = {**source, **dict.fromkeys(("location", "credentials", "webhook_secret", "created_by"))}
    assert api.get(path).json() == seen
    assert api.get(SOURCES).json()["results"] == []
    assert api.get(f"{SOURCES}?include={OWNER}").json()["results"] == [seen]
    for below, status in {"state": 200, "should-sync": 200, "manifest": 403, "files": 403, "checkpoints": 403}.items():
        assert api.get(f"{path}/{below}").status_code == status, below
    for action, body in (("sync", {}), ("sessions", None), ("pause", {})):
        assert api.post(f"{path}/{action}", body).status_code == 403, action
    assert not SyncRun.objects.exists()


@pytest.mark.parametrize("bound", [Scope("ana"), Scope(household_id="home"), Scope(OWNER, persona_id="cook")])
def test_a_source_that_a_key_may_not_see_does_not_exist(source: dict[str, Any], bound: Scope) -> None:
    api = api_for(bound)
    there, nowhere = (f"{SOURCES}/{uuid}" for uuid in (source["id"], uuid4()))
    assert api.get(f"{SOURCES}?count=true").json()["total"] == 0
    for below in ("", "/state", "/manifest", "/files", "/checkpoints", "/should-sync"):
        assert api.get(there + below).status_code == 404, below
        assert api.get(there + below).content == api.get(nowhere + below).content
    for action in ("sync", "sessions", "pause", "resume", "preview"):
        assert api.post(f"{there}/{action}").status_code == 404, action
    for listed in ("runs", "items", "conflicts"):
        assert api.get(f"/api/sync/{listed}?source={source['id']}").status_code == 404, listed
        assert api.get(f"/api/sync/{listed}").json()["results"] == []


def test_sources_are_listed_in_pages_of_those_that_a_key_may_see(operator: Api) -> None:
    ids = [created(operator, name=f"source {number}")["id"] for number in range(3)]
    created(operator, name="other", user_id="team:mobile")
    api = api_for(Scope(OWNER), Permission.READ)
    first = api.get(f"{SOURCES}?limit=2&count=true").json()
    assert ([each["id"] for each in first["results"]], first["total"]) == (ids[:0:-1], 3)
    second = api.get(first["next"]).json()
    assert ([each["id"] for each in second["results"]], second["next"]) == (ids[:1], None)
    assert operator.get(f"{SOURCES}?user_id=team:mobile&count=true").json()["total"] == 1


def test_a_sync_that_is_asked_for_waits_and_is_asked_for_once(source: dict[str, Any]) -> None:
    api, path = api_for(Scope(OWNER)), f"{SOURCES}/{source['id']}/sync"
    answer = api.post(path, {"kind": "full"})
    run = answer.json()
    assert (answer.status_code, run["state"], run["kind"], run["reason"]) == (202, "waiting", "full", "manual")
    assert answer["Location"] == f"/api/sync/runs/{run['id']}"
    assert api.get(answer["Location"]).json()["progress"] == {"step": "", "done": 0, "total": 0}
    assert api.post(path, {"kind": "full"}).json()["id"] == run["id"]
    assert [
        each["id"] for each in api.get(f"/api/sync/runs?source={source['id']}&state=waiting").json()["results"]
    ] == [run["id"]]
    assert api.get("/api/sync/runs?state=complete").json()["results"] == []


@pytest.mark.parametrize("body", [{"kind": "single"}, {"kind": "full", "item_id": "ADR-1"}, {"kind": "rollback"}])
def test_a_sync_that_cannot_be_is_refused(operator: Api, source: dict[str, Any], body: dict[str, Any]) -> None:
    assert operator.post(f"{SOURCES}/{source['id']}/sync", body).status_code == 400
    assert not SyncRun.objects.exists()


def test_pause_keeps_its_reason_and_resume_ends_it(operator: Api, source: dict[str, Any]) -> None:
    path = f"{SOURCES}/{source['id']}"
    assert operator.post(f"{path}/pause", {"reason": "the forge moves"}).json()["paused"] == "the forge moves"
    due = operator.get(f"{path}/should-sync").json()
    assert (due["should_sync"], due["reason"]) == (False, "paused")
    assert operator.post(f"{path}/resume").json()["paused"] == ""


def test_no_trigger_met(operator: Api, source: dict[str, Any]) -> None:
    due = operator.get(f"{SOURCES}/{source['id']}/should-sync").json()
    assert (due["should_sync"], due["reason"], due["due_at"]) == (False, "manual", None)


def test_evaluate_session_threshold(operator: Api, source: dict[str, Any]) -> None:
    path = f"{SOURCES}/{source['id']}"
    operator.patch(path, {"session_threshold": 2})
    SyncState.objects.update(last_sync_at=utcnow(SYSTEM_CLOCK))
    assert operator.post(f"{path}/sessions").json()["sessions_since_sync"] == 1
    assert operator.get(f"{path}/should-sync").json()["should_sync"] is False
    operator.post(f"{path}/sessions")
    due = operator.get(f"{path}/should-sync").json()
    assert (due["should_sync"], due["reason"]) == (True, "threshold")
    assert SyncState.objects.get(source__uuid=UUID(source["id"])).sessions_since_sync == 2


def test_staleness_is_a_span_over_rest(operator: Api) -> None:
    found = created(operator, staleness="6h")
    assert (found["staleness_seconds"], found["staleness"]) == (21_600, "6h")
    path = f"{SOURCES}/{found['id']}"
    changed = operator.patch(path, {"staleness": "1d12h"}).json()
    assert (changed["staleness_seconds"], changed["staleness"]) == (129_600, "1d12h")
    assert operator.patch(path, {"staleness_seconds": None}).json()["staleness"] is None
    for wrong in ({"staleness": "soon"}, {"staleness": "6h", "staleness_seconds": 5}):
        assert error_attrs(operator.patch(path, wrong)) == ["staleness"]


def test_error_that_may_pass_is_retryable(operator: Api) -> None:
    source = created(operator, kind="folder", location=str(settings.SYNC_DIR.parent.parent / "gone"))
    answer = operator.post(f"{SOURCES}/{source['id']}/sync", {"wait": True})
    assert answer.status_code == 503
    [error] = answer.json()["errors"]
    assert (error["code"], error["retryable"]) == ("KNOWLEDGE_UNAVAILABLE", True)
