"""What the pages about the index cache say is so."""

from pathlib import Path

from django.conf import settings

from memoryhub.config.hub import read_config

DOCS = Path(settings.BASE_DIR) / "docs"


def test_pages_agree_about_size_of_index_cache() -> None:
    default = read_config().index_cache_mb
    configuration = (DOCS / "operate" / "configuration.md").read_text("utf-8")
    limits = (DOCS / "explain" / "vector-index.md").read_text("utf-8")
    assert f"| `MEMORYHUB_INDEX_CACHE_MB` | `{default}` | memory for the indexes of each web process" in configuration
    assert f"memory of the indexes of one process, `MEMORYHUB_INDEX_CACHE_MB` | {default:,} MB |" in limits
