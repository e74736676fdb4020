"""The embedded PostgreSQL server."""
from pathlib import Path
from typing import Any


def database_settings(data_dir: Path) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.postgresql", "NAME": "memoryhub", "USER": "postgres", "HOST": str(data_dir / "pg")}
