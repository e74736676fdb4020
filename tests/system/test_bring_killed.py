"""A person brings a large export; its worker is killed twice, and nothing is missing or there twice."""

import contextlib
import json
import re
import signal
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import httpx2
import psutil
import pytest

from tests.system.hub import Hub, wait_for

pytestmark = pytest.mark.xdist_group("another hub")

TALKS, MESSAGES = 40, 80
SIGN_IN = """
from django.test import Client
from apps.accounts.services import person_create
client = Client()
client.force_login(person_create(username="ana", person_id="ana"))
print(client.cookies["sessionid"].value)
"""
# Within a minute it would be anyway.
DUE = "UPDATE django_q_schedule SET next_run = now() WHERE func = 'apps.imports.tasks.bring'"
COUNT = """
from apps.episodic.models import TimelineEvent
texts = list(TimelineEvent.objects.filter(user_id="ana").values_list("content", flat=True))
print(len(texts), len(set(texts)))
"""


@pytest.fixture(scope="module")
def hub(make_place: Any) -> Iterator[Hub]:
    hub = Hub(make_place() / "hub")
    hub.make_cluster()
    hub.start()
    yield hub
    hub.end()


@pytest.fixture
def ana(hub: Hub) -> Iterator[httpx2.Client]:
    """A browser in which Ana is signed in."""
    cookies = {"sessionid": hub.shell(SIGN_IN)}
    base = f"http://127.0.0.1:{hub.port}"
    with httpx2.Client(base_url=base, cookies=cookies, follow_redirects=True, timeout=60) as browser:
        yield browser


def export() -> bytes:
    """Return what Claude exports: conversations, each message with words of its own."""
    talks = [
        {
            "uuid": f"talk-{talk}",
            "name": f"Talk {talk}",
            "chat_messages": [
                {
                    "uuid": f"{talk}-{number}",
                    "sender": ("human", "assistant")[number % 2],
                    "text": f"Row {number} of bed {talk} has leeks.",
                    "created_at": f"2026-03-{talk % 28 + 1:02}T05:{number // 60:02}:{number % 60:02}Z",
                }
                for number in range(MESSAGES)
            ],
        }
        for talk in range(TALKS)
    ]
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("conversations.json", json.dumps(talks))
    return whole.getvalue()


def send(browser: httpx2.Client, page: str, action: str, **files: Any) -> str:
    """Send a form of a page, and return the address that it leads to."""
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get(page).text)
    assert token is not None
    answer = browser.post(action, data={"csrfmiddlewaretoken": token[1]}, files=files)
    assert answer.status_code == 200, answer.text
    return str(answer.url.path)


def kill_worker(hub: Hub) -> None:
    """Kill the worker with all its processes, and wait until there is another one, whose schedule is due at once."""
    killed = hub.part("worker")
    for process in [*killed.children(recursive=True), killed]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    with hub.database.connect() as connection:
        connection.execute(DUE)
    wait_for(lambda: hub.part("worker").pid != killed.pid, "another worker")


def brought(browser: httpx2.Client, page: str) -> int:
    """Return how much of a file that is being brought in is done, in percent; 100 once it is."""
    text = browser.get(page).text
    if share := re.search(r"Being brought in: (\d+)%", text):
        return int(share[1])
    return 100 if "It is brought in" in text else 0


def wait_for_share(hub: Hub, share: int) -> None:
    """Wait until so much of the only import is done, in percent: the table costs less than the page, for a minute."""
    with hub.database.connect() as connection:

        def is_done() -> bool:
            row = connection.execute("SELECT state, 100 * done / greatest(total, 1) FROM imports_import").fetchone()
            assert row is not None
            return row[0] == "done" or (share < 100 and row[1] >= share)

        wait_for(is_done, f"{share}% of it")


def test_a_worker_killed_in_the_middle_loses_nothing_and_keeps_nothing_twice(hub: Hub, ana: httpx2.Client) -> None:
    page = send(ana, "/bring/", "/bring/", file=("claude.zip", export()))
    wait_for(lambda: "This is what would be kept" in ana.get(page).text, "the look")
    send(ana, page, f"{page}confirm/")
    for share in (10, 50):
        wait_for_share(hub, share)
        at = brought(ana, page)
        assert at < 100, "it was over before the worker was killed"
        kill_worker(hub)
    wait_for_share(hub, 100)
    assert brought(ana, page) == 100
    assert hub.shell(COUNT) == f"{TALKS * MESSAGES} {TALKS * MESSAGES}"
    send(ana, f"{page}undo/", f"{page}undo/")
    wait_for(lambda: "It is undone" in ana.get(page).text, "the end of it")
    assert hub.shell(COUNT) == "0 0"
