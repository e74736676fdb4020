"""Comparing what searches work on with the rows of memories, without changing anything."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from apps.llm.selectors import active_space
from apps.llm.services import get_embedder
from apps.retrieval.domain.lexemes import LEXEMES_VERSION
from apps.semantic.index.snapshots import Snapshots, find_snapshots, fingerprint, number_of
from apps.semantic.models import Memory, MemoryShard


@dataclass(frozen=True)
class IndexExamination:
    """Of how many memories the index lacks or contradicts something.

    other_space: the embedding space that is stored and the one that is configured, where they differ. without_vector:
    active memories without a vector in the space in use. outdated_words: whose keyword document is of another version.
    out_of_order: whose version is above that of their user, so that a loaded index would never learn of them.
    bad_snapshots: snapshots that cannot be used, or that know more than the rows; they are made again.
    """

    memories: int
    other_space: tuple[str, str] | None
    without_vector: int
    outdated_words: int
    out_of_order: int
    bad_snapshots: int


def index_examine(*, thorough: bool) -> IndexExamination:
    """Compare vectors, words, versions and snapshots with the memories. thorough: read each snapshot completely."""
    space, active = active_space(), Memory.objects.active()
    configured = get_embedder().space
    known = MemoryShard.objects.filter(pk=OuterRef("user_id")).values("version")
    newer = Memory.objects.filter(version__gt=Coalesce(Subquery(known), 0))
    return IndexExamination(
        memories=active.count(),
        other_space=(str(space.space_id), str(configured)) if space and space.space_id != configured else None,
        without_vector=0 if space is None else active.exclude(embeddings__space=space).count(),
        outdated_words=Memory.objects.exclude(lexemes_version=LEXEMES_VERSION).count(),
        out_of_order=newer.order_by().count(),
        bad_snapshots=sum(1 for _ in bad_snapshots(thorough=thorough)),
    )


def bad_snapshots(*, thorough: bool) -> Iterator[Path]:
    """Yield the headers of snapshots that are damaged, or are of a later time than the rows."""
    versions = dict(MemoryShard.objects.values_list("user_id", "version"))
    for path, snapshots in find_snapshots():
        if not is_sound(path, snapshots, versions.get(snapshots.user, 0), thorough=thorough):
            yield path


def is_sound(header: Path, snapshots: Snapshots, version: int, *, thorough: bool) -> bool:
    """Return whether a snapshot fits its header and the version of its user's memories. A deleted one is no matter."""
    try:
        said = json.loads(header.read_text())
        graph = snapshots.path_of(number_of(header), "graph")
        if said["version"] > version or graph.stat().st_size != said["size_bytes"]:
            return False
        return not thorough or fingerprint(graph) == (said["size_bytes"], said["sha256"])
    except FileNotFoundError:
        return not header.exists()
    except (OSError, ValueError, KeyError, TypeError):
        return False
