"""Any history of a repository: what incremental syncs leave is what a fresh full sync of all files makes."""

import tempfile
from pathlib import Path
from typing import Any

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.sync import services
from apps.sync.models import SyncCheckpoint, SyncKind
from benchmarks.sync.walk import Oracle, Pointer, differences, fresh_pointers, pointers_of
from tests.effort import examples
from tests.integration.sync.conftest import sync_dir as sync_dir
from tests.integration.sync.repository.repositories import Origin
from tests.integration.sync.syncs import OPERATOR, Hub, make_hub, record

pytestmark = pytest.mark.django_db

PATHS = [f"adr/{number}.md" for number in range(4)] + ["a.md", "z/z.md"]
STATUSES = ("draft", "proposed", "accepted", "deprecated", "rejected", "superseded")
BROKEN = ("---\nid: [\n---\n\n# Title\n", "", "\x00\x01", "---\nid: 'a\nb'\nstatus: }{\n---\n")
number = st.integers(1, 5)
path = st.sampled_from(PATHS)
more = st.one_of(
    st.just(""),
    number.map("supersedes: [ADR-{:04}]\n".format),
    number.map("superseded_by: ADR-{:04}\n".format),
    st.sampled_from(["layer: company\n", "layer: project\n", "tags: [a, b]\n"]),
)
text = st.builds(record, number, status=st.sampled_from(STATUSES), text=st.sampled_from(["One.", "Two."]), more=more)
back = st.integers(0, 5)
step = st.one_of(
    st.tuples(st.just("write"), path, text),
    st.tuples(st.just("write"), path, text),
    st.tuples(st.just("write"), path, st.sampled_from(BROKEN)),
    st.tuples(st.just("delete"), path),
    st.tuples(st.just("rename"), path, path),
    st.tuples(st.just("revert"), back),
    st.tuples(st.just("force"), back),
    st.tuples(st.just("merge"), back, path, text),
    st.tuples(st.just("layer"), st.sampled_from(["team", "org"])),
    st.tuples(st.just("limit"), st.sampled_from([None, 1, 2])),
    st.tuples(st.just("sync"), st.sampled_from(list(SyncKind)[:2])),
    st.tuples(st.just("sync"), st.just(SyncKind.INCREMENTAL)),
    st.tuples(st.just("rollback"), back),
)


class History:
    """A repository that is changed, and the source that follows it. made: commits with their files."""

    def __init__(self, place: Path) -> None:
        self.hub: Hub = make_hub(place, {PATHS[0]: record(1)}, name=place.name)
        self.oracle = Oracle()
        self.made = [(self.head, dict(self.origin.files))]

    @property
    def origin(self) -> Origin:
        return self.hub.origin

    @property
    def head(self) -> str:
        return str(self.origin.repository.references["refs/heads/main"].target)

    def commit(self, files: dict[str, str | None]) -> None:
        self.made.append((self.hub.write(files), dict(self.origin.files)))

    def write(self, path: str, text: str) -> None:
        self.commit({path: text})

    def delete(self, path: str) -> None:
        if path in self.origin.files:
            self.commit({path: None})

    def rename(self, old: str, new: str) -> None:
        """Move a file, so that its item is the same or, over another file, takes that one's place."""
        if old in self.origin.files and old != new:
            self.origin.files[new] = self.origin.files.pop(old)
            self.commit({})

    def revert(self, back: int) -> None:
        """Make the files what they were at a former commit, by a new one."""
        self.origin.files = dict(self.made[-1 - back % len(self.made)][1])
        self.commit({})

    def force(self, back: int) -> None:
        """Let the branch be a former commit, as a forced push does."""
        commit, files = self.made[-1 - back % len(self.made)]
        self.origin.files = dict(files)
        self.origin.reset(commit)

    def merge(self, back: int, path: str, text: str) -> None:
        """Merge a branch that began at a former commit, with one file changed in it."""
        head, files = self.head, dict(self.origin.files)
        self.force(back)
        side = self.hub.write({path: text})
        self.origin.files = {**files, path: self.origin.files[path]}
        merged = self.hub.write({})
        tree = self.origin.repository[merged].peel(pygit2.Commit).tree_id
        commit = self.origin.commit_tree(tree, "merge", parents=[head, side])
        self.made.append((commit, dict(self.origin.files)))

    def layer(self, layer: str) -> None:
        self.hub.update(layer=layer)

    def limit(self, limit: int | None) -> None:
        self.hub.update(max_items=limit)

    def rollback(self, back: int) -> None:
        """Take back what was synced since a checkpoint, and go on."""
        checkpoints = SyncCheckpoint.objects.filter(source=self.hub.source).order_by("-pk")
        if checkpoints:
            uuid = checkpoints[back % len(checkpoints)].uuid
            services.sync_rollback(access=OPERATOR, uuid=self.hub.source.uuid, checkpoint=uuid, clock=self.hub.clock)
            services.source_resume(access=OPERATOR, uuid=self.hub.source.uuid)
            self.hub.source.refresh_from_db()

    def sync(self, kind: SyncKind) -> None:
        """Sync until nothing is left, and compare with what all files make."""
        run = self.hub.sync(kind, allow_empty=True)
        for _ in range(20):
            if not run.remaining:
                break
            run = self.hub.sync(allow_empty=True)
        assert run.state in ("complete", "partial")
        wanted, found, items = self.oracle.pointers(self.hub.source, self.head), self.pointers, self.hub.items
        # After a rollback there may be items whose files are there again, and were not read since.
        self.kept = {key for key in found.keys() - wanted.keys() if items[key].path in self.oracle.unread}
        assert not set(differences(found, wanted)) - self.kept
        assert items.keys() == wanted.keys() | self.kept
        assert {items[key].pointer for key in items} == {memory.uuid for memory in self.hub.memories.values()}
        again = self.hub.sync(allow_empty=True)
        assert (again.added, again.updated, again.deleted) == (0, 0, 0)

    @property
    def pointers(self) -> dict[str, Pointer]:
        return pointers_of(self.hub.source)

    def end(self) -> None:
        """Compare with a fresh source, which cannot know what a file said before it could not be read any more."""
        self.limit(None)
        self.sync(SyncKind.INCREMENTAL)
        if not self.oracle.remembered and not self.kept:
            assert not differences(self.pointers, fresh_pointers(self.hub.source))


@settings(max_examples=examples(40))
@given(steps=st.lists(step, min_size=3, max_size=14))
def test_incremental_syncs_equal_a_fresh_full_sync(sync_dir: Path, steps: list[tuple[Any, ...]]) -> None:
    place = Path(tempfile.mkdtemp(dir=sync_dir.parent.parent))
    history = History(place)
    for name, *arguments in steps:
        getattr(history, name)(*arguments)
    history.end()
