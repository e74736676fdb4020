"""Knowledge over REST on real repositories: syncs, items with their texts, conflicts, checkpoints and rollback."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.sync.models import KnowledgeItem
from tests.api import Api, api_for, contents
from tests.integration.sync.repository.repositories import Origin

pytestmark = pytest.mark.django_db(transaction=True)

SYNC = "/api/sync"
OWNER = "team:platform"
CALLS = "# 12. Calls between services\n\n## Status\n\nAccepted\n\n## Decision\n\nServices call each other over REST.\n"
EVENTS = (
    "---\nid: ADR-0017\ntitle: Events between services\nstatus: {status}\nsummary: Services publish what has changed.\n"
    "supersedes: [ADR-0012]\n---\n\nEach service keeps a copy of what it needs.\n"
)
FILES = {"adr/0012-calls.md": CALLS, "adr/0017-events.md": EVENTS.format(status="accepted"), "adr/0018-draft.md": ""}


class Team:
    """A repository of decisions, its source, and the operator of the hub."""

    def __init__(self, root: Path) -> None:
        self.origin = Origin(root / "decisions.git")
        self.operator = api_for(Scope(), Permission.OPERATOR)
        self.first = self.origin.commit(FILES)
        values = {"name": "decisions", "user_id": OWNER, "kind": "git", "location": str(self.origin.path)}
        self.source = self.operator.post(f"{SYNC}/sources", values).json()
        self.path = f"{SYNC}/sources/{self.source['id']}"

    def sync(self, **asked: Any) -> dict[str, Any]:
        """Sync now, and return the run."""
        answer = self.operator.post(f"{self.path}/sync", {"wait": True, **asked})
        assert answer.status_code == 200, answer.content
        run: dict[str, Any] = answer.json()
        return run

    def items(self, api: Api | None = None, **asked: str) -> dict[str, dict[str, Any]]:
        """Return the items of the source by their ids."""
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        listed = (api or self.operator).get(f"{SYNC}/items?source={self.source['id']}&{query}").json()["results"]
        return {item["item_id"]: item for item in listed}


@pytest.fixture
def team(transactional_db: None, tmp_path: Path, settings: Any) -> Team:
    settings.SYNC_DIR = tmp_path / "data" / "sync"
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(tmp_path,)))
    return Team(tmp_path)


def test_full_sync_all_knowledge_is_found_and_leads_to_the_text(team: Team) -> None:
    run = team.sync(kind="full")
    assert (run["state"], run["code"], run["to_commit"]) == ("partial", "PARTIAL_FAILURE", team.first)
    assert [(each["path"], each["code"]) for each in run["failed_items"]] == [("adr/0018-draft.md", "empty")]
    assert run["counts"]["added"] == 2
    hit = team.operator.search("how do services get data?", user_id=OWNER)["results"][0]["memory"]
    assert (hit["managed"], hit["source"], hit["metadata"]["layer"]) == (True, "knowledge", "team")
    item = team.operator.get(f"{SYNC}/items/{hit['metadata']['item']}").json()
    assert item["content"]["text"] in FILES.values()
    assert (item["pointer"], item["content"]["commit"]) == (hit["id"], team.first)


def test_partial_failure_handling_shows_refused_files(team: Team) -> None:
    team.sync(kind="full")
    refused = team.operator.get(f"{team.path}/files?refused=true&count=true").json()
    assert [(each["path"], each["code"], each["item_id"]) for each in refused["results"]] == [
        ("adr/0018-draft.md", "empty", None)
    ]
    every = team.operator.get(f"{team.path}/files?limit=2").json()
    more = team.operator.get(every["next"]).json()
    assert [each["item_id"] for each in (*every["results"], *more["results"])] == ["ADR-0012", "ADR-0017", None]
    assert (refused["total"], more["next"]) == (1, None)


def test_a_preview_says_what_would_be_and_writes_nothing(team: Team) -> None:
    preview = team.operator.post(f"{team.path}/preview").json()
    assert [(each["path"], each["code"]) for each in preview["files"]][-1] == ("adr/0018-draft.md", "empty")
    assert [each["item"]["status"] for each in preview["files"] if each["item"]] == ["superseded", "accepted"]
    assert preview["delta"] == {"added": ["ADR-0012", "ADR-0017"], "updated": [], "deleted": [], "unchanged": 0}
    assert team.items() == {}
    assert team.operator.get(f"{SYNC}/runs").json()["results"] == []


def test_incremental_sync_since_last_commit_shows_what_it_changed(team: Team) -> None:
    team.sync(kind="full")
    team.origin.commit({"adr/0012-calls.md": None, "adr/0017-events.md": EVENTS.format(status="deprecated")})
    run = team.sync()
    assert (run["kind"], run["from_commit"], run["fallback"]) == ("incremental", team.first, "")
    assert (run["counts"]["updated"], run["counts"]["deleted"]) == (1, 1)
    changes = team.operator.get(f"{SYNC}/runs/{run['id']}/changes?count=true").json()
    assert {(each["item_id"], each["action"]) for each in changes["results"]} == {
        ("ADR-0012", "delete"),
        ("ADR-0017", "update"),
    }
    state = team.operator.get(f"{team.path}/state").json()
    assert (state["items"], state["pointers"], state["last_commit"]) == (1, 1, run["to_commit"])
    manifest = team.operator.get(f"{team.path}/manifest").json()
    assert [(each["item_id"], each["status"]) for each in manifest["results"]] == [("ADR-0017", "deprecated")]


def test_single_item_sync(team: Team) -> None:
    team.sync(kind="full")
    team.origin.commit({"adr/0012-calls.md": CALLS.replace("REST", "gRPC"), "adr/0019.md": "# New"})
    run = team.sync(kind="single", item_id="ADR-0012")
    assert run["counts"]["updated"] == 1
    assert set(team.items()) == {"ADR-0012", "ADR-0017"}


def test_items_are_filtered(team: Team) -> None:
    team.sync(kind="full")
    assert set(team.items(status="superseded")) == {"ADR-0012"}
    assert set(team.items(type="adr", layer="team")) == {"ADR-0012", "ADR-0017"}
    assert set(team.items(type="policy")) == set()
    assert set(team.items(q="EVENTS")) == {"ADR-0017"}
    assert set(team.items(q="adr-0012")) == {"ADR-0012"}
    assert team.items()["ADR-0012"]["superseded_by"] == ["ADR-0017"]


def test_an_item_is_shown_at_any_commit_and_once(team: Team) -> None:
    team.sync(kind="full")
    second = team.origin.commit({"adr/0012-calls.md": CALLS.replace("REST", "gRPC")}, "call over gRPC")
    team.sync()
    path = f"{SYNC}/items/{team.items()['ADR-0012']['id']}"
    now, then = team.operator.get(path), team.operator.get(f"{path}?commit={team.first}")
    assert "gRPC" in now.json()["content"]["text"]
    assert then.json()["content"]["text"] == CALLS
    headers = {"Authorization": f"Bearer {team.operator.key}", "If-None-Match": now["ETag"]}
    known = team.operator.client.get(path, headers=headers)
    assert (known.status_code, known.content, known["ETag"]) == (304, b"", now["ETag"])
    assert team.operator.client.get(f"{path}?commit={team.first}", headers=headers).status_code == 200
    diff = team.operator.get(f"{path}/diff?from={team.first}").json()
    assert (diff["new"], "+Services call each other over gRPC." in diff["diff"]) == (second, True)
    history = team.operator.get(f"{path}/history").json()["results"]
    assert [(each["commit"], each["subject"]) for each in history] == [
        (second, "call over gRPC"),
        (team.first, "a change"),
    ]
    gone = team.operator.get(f"{path}?commit={'0' * 40}")
    assert gone.status_code == 404
    assert team.operator.get(f"{path}?commit=main").status_code == 400


def test_a_granted_reader_sees_items_and_texts_and_others_nothing(team: Team) -> None:
    team.sync(kind="full")
    reader, other = api_for(Scope("ana"), Permission.READ, reads=[OWNER]), api_for(Scope("ben"), Permission.READ)
    item = team.items()["ADR-0017"]
    assert team.items(reader) == team.items()
    assert reader.get(f"{SYNC}/items").json()["results"] == []
    assert len(reader.get(f"{SYNC}/items?include={OWNER}").json()["results"]) == 2
    assert contents(reader.search("events between services", include=[OWNER]))[0].startswith("[ADR] Events")
    for below in ("", "/history", f"/diff?from={team.first}", f"?commit={team.first}"):
        assert reader.get(f"{SYNC}/items/{item['id']}{below}").status_code == 200, below
        assert other.get(f"{SYNC}/items/{item['id']}{below}").status_code == 404, below
    assert other.get(f"{SYNC}/items?include={OWNER}").json()["results"] == []


def test_how_a_source_is_kept_is_for_its_owner(team: Team) -> None:
    team.operator.patch(team.path, {"resolutions": {"orphaned_pointer": "manual"}})
    team.sync(kind="full")
    team.origin.commit({"adr/0012-calls.md": None})
    run = team.sync()
    [conflict] = team.operator.get(f"{SYNC}/conflicts?state=open").json()["results"]
    below = [f"{team.path}/{name}" for name in ("manifest", "files", "checkpoints")]
    below += [f"{SYNC}/runs/{run['id']}/changes", f"{SYNC}/conflicts?source={team.source['id']}"]
    granted = api_for(Scope("ana"), reads=[OWNER])
    stranger, member = api_for(Scope("ben")), api_for(Scope(OWNER))
    for api, status in ((granted, 403), (stranger, 404), (member, 200), (team.operator, 200)):
        assert {api.get(path).status_code for path in below} == {status}
        kept = 404 if status == 403 else status
        assert api.get(f"{SYNC}/conflicts/{conflict['id']}").status_code == kept
        assert bool(api.get(f"{SYNC}/conflicts").json()["results"]) is (status == 200)
        shown = 200 if status == 403 else status
        assert api.get(team.path).status_code == api.get(f"{SYNC}/runs/{run['id']}").status_code == shown
        assert api.post(f"{team.path}/preview").status_code == status
    resolve = f"{SYNC}/conflicts/{conflict['id']}/resolve"
    assert {api.post(resolve, {"resolution": "keep_memory"}).status_code for api in (granted, stranger)} == {404}


def test_location_secrets_and_actors_are_for_the_owner(team: Team) -> None:
    team.operator.patch(team.path, {"webhook_secret": "hook"})
    run = team.sync(kind="full")
    granted = api_for(Scope("ana"), reads=[OWNER])
    member = api_for(Scope(OWNER))
    whole = team.operator.get(team.path).json()
    assert (whole["location"], whole["webhook_secret"]) == (str(team.origin.path), "hook")
    secret = {"credentials": None, "webhook_secret": None, "created_by": None}
    assert member.get(team.path).json() == {**whole, **secret}
    seen = {**whole, **secret, "location": None}
    assert granted.get(team.path).json() == seen
    assert granted.get(f"{SYNC}/sources?include={OWNER}").json()["results"] == [seen]
    path = f"{SYNC}/runs/{run['id']}"
    assert member.get(path).json() == run
    assert (run["checkpoint"] is None, len(run["failed_items"])) == (False, 1)
    hidden = {"actor": None, "detail": None}
    of_run = {**run, **hidden, "failed_items": None, "checkpoint": None}
    assert granted.get(path).json() == of_run
    [listed] = granted.get(f"{SYNC}/runs?include={OWNER}").json()["results"]
    assert listed == {name: of_run[name] for name in listed}


def test_a_pointer_cannot_be_changed_as_a_memory(team: Team) -> None:
    team.sync(kind="full")
    pointer = team.items()["ADR-0017"]["pointer"]
    answer = team.operator.delete(f"/api/semantic/memories/{pointer}")
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (409, "managed")


def test_a_conflict_waits_for_a_person_and_is_resolved(team: Team) -> None:
    team.operator.patch(team.path, {"resolutions": {"orphaned_pointer": "manual"}})
    team.sync(kind="full")
    team.origin.commit({"adr/0012-calls.md": None})
    team.sync()
    [conflict] = team.operator.get(f"{SYNC}/conflicts?state=open&source={team.source['id']}").json()["results"]
    assert (conflict["type"], conflict["item_id"], conflict["suggested"]) == (
        "orphaned_pointer",
        "ADR-0012",
        "delete_memory",
    )
    path = f"{SYNC}/conflicts/{conflict['id']}"
    assert api_for(Scope(OWNER)).post(f"{path}/resolve", {"resolution": "delete_memory"}).status_code == 403
    assert api_for(Scope("ana")).post(f"{path}/resolve", {"resolution": "delete_memory"}).status_code == 404
    assert team.operator.post(f"{path}/resolve", {"resolution": "manual"}).status_code == 400
    assert team.operator.post(f"{path}/resolve", {"resolution": "update_memory"}).status_code == 400
    resolved = team.operator.post(f"{path}/resolve", {"resolution": "delete_memory"}).json()
    assert (resolved["state"], resolved["resolution"]) == ("resolved", "delete_memory")
    assert team.operator.post(f"{path}/resolve", {"resolution": "delete_memory"}).status_code == 409
    assert team.operator.get(path).json() == resolved


def test_a_rollback_restores_pointers_and_pauses(team: Team) -> None:
    team.sync(kind="full")
    before = team.items()
    team.origin.commit({"adr/0012-calls.md": None})
    team.sync()
    checkpoint = team.operator.get(f"{team.path}/checkpoints").json()["results"][0]
    assert checkpoint["commit"] == team.first
    run = team.operator.post(f"{team.path}/rollback", {"checkpoint": checkpoint["id"]}).json()
    assert (run["kind"], run["state"]) == ("rollback", "complete")
    after = team.items()
    assert {name: item["pointer"] for name, item in after.items()} == {
        name: item["pointer"] for name, item in before.items()
    }
    assert team.operator.get(team.path).json()["paused"] != ""
    undone = team.operator.get(f"{SYNC}/runs/{checkpoint['run']}").json()
    assert undone["rolled_back_by"] == run["id"]
    assert team.operator.post(f"{team.path}/rollback", {"checkpoint": run["id"]}).status_code == 404


def test_knowledge_unavailable_error(team: Team) -> None:
    team.operator.patch(team.path, {"location": f"{team.source['location']}.gone"})
    answer = team.operator.post(f"{team.path}/sync", {"kind": "full", "wait": True})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (503, "KNOWLEDGE_UNAVAILABLE")
    assert int(answer["Retry-After"]) > 0
    [run] = team.operator.get(f"{SYNC}/runs").json()["results"]
    assert (run["state"], run["code"]) == ("failed", "KNOWLEDGE_UNAVAILABLE")
    due = team.operator.get(f"{team.path}/should-sync").json()
    assert (due["should_sync"], due["reason"]) == (False, "backoff")


def test_a_deleted_source_takes_its_pointers_along(team: Team) -> None:
    team.sync(kind="full")
    pointer = team.items()["ADR-0017"]["pointer"]
    assert team.operator.delete(team.path).status_code == 204
    assert team.operator.get(team.path).status_code == 404
    assert team.operator.get(f"/api/semantic/memories/{pointer}").status_code == 404
    deleted = team.operator.get(f"/api/semantic/memories?status=deleted&user_id={OWNER}").json()["results"]
    assert pointer in {memory["id"] for memory in deleted}
    assert not KnowledgeItem.objects.exists()


def test_a_model_reads_the_text_in_parts(team: Team) -> None:
    team.sync(kind="full")

    def read(api: Api, parameters: str) -> Any:
        text = f"[[ABP_TOOL:knowledge_read]]{parameters}"
        [result] = api.post("/api/llm/tools/execute", {"text": text}).json()["results"]
        return result

    reader = api_for(Scope("ana"), Permission.READ, reads=[OWNER])
    first = read(reader, '{"item": "Ref: decisions/ADR-0012", "limit": 10}')["value"]
    assert (first["text"], first["next_offset"], first["total_chars"]) == (CALLS[:10], 10, len(CALLS))
    rest = read(reader, f'{{"item": "{first["id"]}", "offset": 10}}')["value"]
    assert (first["text"] + rest["text"], rest["next_offset"]) == (CALLS, None)
    assert rest["superseded_by"] == ["ADR-0017"]
    assert read(api_for(Scope("ben"), Permission.READ), '{"item": "decisions/ADR-0012"}')["outcome"] == "failed"
