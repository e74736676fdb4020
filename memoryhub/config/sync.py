"""Settings of knowledge sync: what may be read, and how much of it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from environs import Env, validate

SECRETS = "MEMORYHUB_SYNC_SECRET_"


@dataclass(frozen=True)
class SyncConfig:
    """Limits of reading sources. roots: folders below which local sources must lie. secrets: by name, in capitals."""

    roots: tuple[Path, ...]
    fetch_seconds: float
    max_mb: int
    max_files: int
    max_file_kb: int
    secrets: Mapping[str, str] = field(repr=False)


def read_sync(env: Env, data_dir: Path) -> SyncConfig:
    """Read the settings of knowledge sync. Raises ImproperlyConfigured."""
    names: list[str] = env.list("MEMORYHUB_SYNC_ROOTS", [])
    roots = [Path(name.strip()) for name in names]
    if not all(root.is_absolute() for root in roots):
        raise ImproperlyConfigured("MEMORYHUB_SYNC_ROOTS must list absolute paths, separated by commas.")
    return SyncConfig(
        roots=tuple(roots) or (data_dir / "knowledge",),
        fetch_seconds=env.float("MEMORYHUB_SYNC_FETCH_SECONDS", 300.0, validate=validate.Range(min=1, max=86_400)),
        max_mb=env.int("MEMORYHUB_SYNC_MAX_MB", 1_000, validate=validate.Range(min=1, max=1_000_000)),
        max_files=env.int("MEMORYHUB_SYNC_MAX_FILES", 100_000, validate=validate.Range(min=1, max=10_000_000)),
        max_file_kb=env.int("MEMORYHUB_SYNC_MAX_FILE_KB", 1_000, validate=validate.Range(min=1, max=100_000)),
        secrets={name.removeprefix(SECRETS): text for name, text in os.environ.items() if name.startswith(SECRETS)},
    )
