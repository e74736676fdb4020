"""What the pages about backup and the index cache say is so, with the tools of any Unix."""

import os
import re
import subprocess
from pathlib import Path

from django.conf import settings

from memoryhub.config.hub import read_config

DOCS = Path(settings.BASE_DIR) / "docs"


def test_timeline_is_copied_with_standard_tools_as_documented(tmp_path: Path) -> None:
    page = (DOCS / "operate" / "backup-and-upgrade.md").read_text("utf-8")
    [copy] = [block for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "backup/timeline" in block]
    assert "rsync" not in copy
    timeline = tmp_path / "data" / "timeline"
    (timeline / "quarantine").mkdir(parents=True)
    (timeline / "1.seg").write_text("first")
    environment = {"PATH": os.defpath, "MEMORYHUB_DATA_DIR": str(tmp_path / "data")}

    def run() -> set[str]:
        subprocess.run(["sh", "-ec", copy], cwd=tmp_path, env=environment, check=True)
        return {path.name for path in (tmp_path / "backup" / "timeline").iterdir()}

    assert run() == {"1.seg", "quarantine"}
    (timeline / "1.seg").unlink()  # merged with another one during the dump
    (timeline / "2.seg").write_text("both")
    assert run() == {"1.seg", "2.seg", "quarantine"}, "the dump may refer to either"


def test_pages_agree_about_size_of_index_cache() -> None:
    default = read_config().index_cache_mb
    configuration = (DOCS / "operate" / "configuration.md").read_text("utf-8")
    limits = (DOCS / "explain" / "vector-index.md").read_text("utf-8")
    assert f"| `MEMORYHUB_INDEX_CACHE_MB` | `{default}` | memory for the indexes of each web process" in configuration
    assert f"memory of the indexes of one process, `MEMORYHUB_INDEX_CACHE_MB` | {default:,} MB |" in limits
