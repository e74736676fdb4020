"""Commands with curl on the pages work word for word against a hub that runs: each page is followed from its top."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.core.domain.scope import Permission, Scope
from tests.api import api_for
from tests.integration.memoryhub.web import serving

pytestmark = [
    pytest.mark.usefixtures("timeline_dir"),  # segment files of other tests would be in the way of forgetting
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl"),
]

ROOT = Path(settings.BASE_DIR)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?:sh|console|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"^(?:curl|hub) ", re.MULTILINE)
NEW_KEY = re.compile(r"^export KEY=mh_.*$", re.MULTILINE)
# Tutorials refer to the function of this page.
FUNCTION = re.search(
    r"^hub\(\) .*$", (ROOT / "docs/start/tutorial-correct-a-memory.md").read_text("utf-8"), re.MULTILINE
)


def calls_of(page: Path) -> list[str]:
    """The blocks of a page with calls, as one types them."""
    blocks = [re.sub(r"^\$ ", "", block, flags=re.MULTILINE) for block in BLOCK.findall(page.read_text("utf-8"))]
    return [block for block in blocks if CALL.search(block) or NEW_KEY.search(block)]


CALLS = {str(page.relative_to(ROOT)): calls for page in PAGES if (calls := calls_of(page))}


class Reader:
    """Follows a page, and puts in what an earlier answer said: a key, an id, a version, a receipt."""

    def __init__(self, place: Path, port: int) -> None:
        operator = api_for(Scope(), Permission.OPERATOR)
        memory = operator.save("Ana rides a bicycle.", user_id="ana")
        self.known = {"KEY": str(operator.key), "ID": memory["id"], "VERSION": memory["version"], "CONFLICT_ID": ""}
        self.known |= {"DATA": str(settings.MEMORYHUB.data_dir), "SOURCE": "", "ITEM": ""}
        self.new_key = self.known["KEY"]
        # Calls of port 8000 reach the hub of this test, and each answer ends with its status.
        places = "".join(f'connect-to = "{host}:8000:127.0.0.1:{port}"\n' for host in ("127.0.0.1", "localhost"))
        (place / ".curlrc").write_text(f'{places}silent\nwrite-out = "\\n%{{http_code}}\\n"\n')
        self.environment = {"PATH": os.environ["PATH"], "CURL_HOME": str(place), "HOME": str(place)}

    def type(self, block: str) -> list[tuple[int, Any]]:
        """Run a block in a shell, and return the status and the JSON of each answer."""
        assert FUNCTION
        if NEW_KEY.search(block):
            self.known["KEY"] = self.new_key
        typed = NEW_KEY.sub("", block).replace("CONFLICT_ID", self.known["CONFLICT_ID"])
        script = f"{FUNCTION[0]}\n{typed}"
        environment = self.environment | self.known
        done = subprocess.run(
            ["bash", "-ec", script],
            cwd=environment["HOME"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stdout.splitlines()
        answers = [(int(lines[n + 1]), json.loads(lines[n] or "{}")) for n in range(0, len(lines), 2)]
        for _, answer in answers:
            self.remember(answer)
        return answers

    def remember(self, answer: Any) -> None:
        """Note what later calls name."""
        self.new_key = answer.get("key") or self.new_key
        new = {"ID": answer.get("id"), "CONFLICT_ID": answer.get("conflict")}
        new["SOURCE"] = answer.get("id") if "webhook" in answer else None
        found = answer.get("results", [])[:1] if "diagnostics" in answer else []
        new["ITEM"] = found[0].get("memory", {}).get("metadata", {}).get("item") if found else None
        self.known |= {name: value for name, value in new.items() if value}


@pytest.fixture
def reader(transactional_db: None, tmp_path: Path) -> Iterator[Reader]:
    with serving() as server:
        yield Reader(tmp_path, server.port)


@pytest.mark.parametrize("page", CALLS)
def test_calls_of_page_are_answered(page: str, reader: Reader) -> None:
    for block in CALLS[page]:
        answers = reader.type(block)
        assert [status // 100 for status, _ in answers] == [2] * len(CALL.findall(block)), (block, answers)


def test_pages_with_calls_are_found() -> None:
    mentioned = {
        str(page.relative_to(ROOT)) for page in PAGES if re.search(r"curl [^|]*://|curl.*api/", page.read_text())
    }
    assert len(mentioned) > 6
    assert mentioned - CALLS.keys() == set()


def test_tutorial_about_correction_ends_as_it_says(reader: Reader) -> None:
    blocks = [block for block in CALLS["docs/start/tutorial-correct-a-memory.md"] if "hub()" not in block]
    answers = [answer for block in blocks for _, answer in reader.type(block)]
    saved, corrected, found, receipt, reverted, rehearsed = answers
    assert (saved["action"], corrected["action"], corrected["reason"]) == ("inserted", "superseded_existing", "recency")
    assert found["results"][0]["memory"]["content"] == "Ana does not live in Lisbon."
    assert receipt["id"] == corrected["conflict"]
    assert reverted["outcome"] == "reverted"
    assert rehearsed["decisions"]["transitions"] == {"superseded_existing -> kept_existing": 1}
