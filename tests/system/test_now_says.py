"""*Now* in a real browser beside a real hub: what goes wrong is there without a reload, and gone when it is mended."""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import browser_open
from tests.integration.llm.chat_server import ChatServer, Reply, running_chat_server
from tests.system.beside import Beside
from tests.system.hub import Hub, wait_for
from tests.system.test_live_processes import SIGN_IN, is_live
from tests.system.test_web_processes import ask

pytestmark = pytest.mark.xdist_group("hub")

MB = 1024 * 1024
# A warning is pushed within two seconds; the rest is for a machine that is busy with other tests.
PUSHED, ROOM = 2.0, 4.0
# A worker counts as stopped 45 seconds after its last sign of life, with the settings of every hub.
WORKER_SECONDS = 60.0
# The share of the free disk that other tests may write or delete in the meantime: they wrote more than 2 GB.
SLACK = 1 / 6
CHAT = {
    "CHAT_PROVIDER": "openai", "CHAT_MODEL": "some-model", "CHAT_API_KEY": "sk-secret-0123456789",
    "CHAT_MAX_TRIES": "1", "CHAT_DAILY_BUDGET_USD": "1",
    "CHAT_BREAKER_WINDOW_SIZE": "2", "CHAT_BREAKER_COOLDOWN_SECONDS": "1", "CHAT_BREAKER_PROBES": "1",
}  # fmt: skip
PRICE = """
import time
from datetime import date
from apps.llm.models import Price
from apps.llm.pricing.prices import price_save
from apps.llm.services import configured_models, guard_rules
provider = configured_models(rules=guard_rules())[0].provider
amounts = {"input_per_million": 10_000, "output_per_million": 10_000}
price = Price(provider=provider, model="*", valid_from=date(2026, 1, 1), source="here", **amounts)
price_save(price=price, actor="test")
"""
CALL = """
from apps.llm.domain.chat import ChatMessage, ChatRequest, MessageRole
from apps.llm.services import chat
question = ChatRequest((ChatMessage(MessageRole.USER, "How is the weather?"),), max_tokens=50)
result = chat(actor="test", purpose="test", request=question)
answer = time.time()
"""
FAIL = """
from django_q.models import Task
from django_q.tasks import async_task
key = async_task("apps.monitor.tasks.none_of_that_name")
deadline = time.monotonic() + 60
while not Task.objects.filter(id=key, success=False).exists() and time.monotonic() < deadline:
    time.sleep(0.02)
answer = time.time()
"""
DECISIONS = """
from django.contrib.auth.models import User
from django.test import Client
from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict
from apps.semantic.services import memory_save
for content in ("Ana lives in Lisbon.", "Ana does not live in Lisbon."):
    for user in ("ana", "ben"):
        memory_save(access=system_access("test"), draft=MemoryDraft(content, scope=Scope(user)))
client = Client()
client.force_login(User.objects.create_superuser("rita"))
keys = list(Conflict.objects.filter(state="open").order_by("-id").values_list("pk", flat=True))
answer = client.cookies["sessionid"].value, keys
"""
SEGMENT = """
from apps.episodic.maintenance.archive import rows_drop, segment_archive
from apps.episodic.maintenance.doctor import segment_verify
from tests.segments import segment_path
from apps.core.domain.clock import SYSTEM_CLOCK
from tests.integration.episodic.upkeep import a_sealed_segment
segment = a_sealed_segment(range(9))
segment_archive(segment, clock=SYSTEM_CLOCK)
rows_drop(segment)
answer = str(segment_path(segment.file_name))
"""
VERIFY = """
segment_verify(segment_id=segment.pk)
answer = time.time()
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with running_chat_server() as server:
        yield server


@pytest.fixture(scope="module")
def hub(make_place: Any, model: ChatServer) -> Iterator[Hub]:
    place = make_place()
    least = int(shutil.disk_usage(place).free * (1 - SLACK)) // MB
    settings = {**CHAT, "CHAT_BASE_URL": model.base_url("openai"), "DISK_WARNING_MB": str(least)}
    hub = Hub(place / "hub", **{f"MEMORYHUB_{name}": value for name, value in settings.items()})
    hub.make_cluster()
    hub.start()
    yield hub
    hub.end()


@pytest.fixture(scope="module")
def beside(hub: Hub) -> Iterator[Beside]:
    with Beside(hub) as process:
        process.run(PRICE)
        yield process


@pytest.fixture(scope="module")
def browser(hub: Hub) -> Iterator[Browser]:
    with browser_open() as browser:
        yield browser


@pytest.fixture(scope="module")
def page(hub: Hub, beside: Beside, browser: Browser) -> Iterator[Page]:
    """*Now*, which no test loads again."""
    session = hub.shell(SIGN_IN)
    context = browser.new_context()
    base = f"http://127.0.0.1:{hub.port}"
    context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
    page = context.new_page()
    page.goto(f"{base}/admin/", wait_until="load")
    page.wait_for_selector("#now-sentence:has-text('All well')", timeout=60_000)
    wait_for(lambda: is_live(page), "a live page", patience=20)
    page.evaluate("window.isSamePage = true")
    yield page
    assert page.evaluate("window.isSamePage")


@pytest.fixture(scope="module")
def worker_stopped_at(hub: Hub, page: Page) -> Iterator[float]:
    """Stop the worker until all tests of this module are over. The hub notices it while the others run."""
    group = hub.part("worker").pid
    os.killpg(group, signal.SIGSTOP)
    yield time.time()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGCONT)


def check(hub: Hub, name: str) -> str:
    """What /readyz says of a check."""
    status, answer = ask(hub, "GET", "/readyz")
    assert (status == 200) is all(said == "ok" for said in answer["checks"].values())
    return str(answer["checks"][name])


def appears(page: Page, words: str, severity: str, button: str, since: float, within: float = PUSHED + ROOM) -> None:
    """A problem is on the page in time, with its severity, advice and button."""
    problem = page.locator(".mh-problem", has_text=words)
    problem.wait_for(timeout=within * 1_000 + 1_000)
    seconds = time.time() - since
    print(f"{words}: {seconds:.2f} s")
    assert seconds <= within
    assert problem.locator(".mh-hidden").first.inner_text().strip() == f"{severity}:"
    assert len(problem.locator(".mh-note").first.inner_text()) > 20
    if button:
        assert problem.locator(".mh-button").inner_text() == button


def vanishes(page: Page, words: str, within: float = PUSHED + ROOM) -> None:
    page.locator(".mh-problem", has_text=words).wait_for(state="detached", timeout=within * 1_000)


def follow(page: Page, words: str) -> Page:
    """Another page of the same person, where the button of a problem leads."""
    button = page.locator(".mh-problem", has_text=words).locator("a.mh-button")
    url = button.evaluate("link => link.href")
    other = page.context.new_page()
    other.goto(url, wait_until="load")
    return other


def test_job_that_failed_is_said_until_it_is_set_aside(hub: Hub, page: Page, beside: Beside) -> None:
    appears(page, "none of that name", "Warning", "See the errors", beside.run(FAIL))
    assert check(hub, "worker") == "ok"
    work = follow(page, "none of that name")
    work.click("#work-failures button:has-text('Set aside')")
    vanishes(page, "none of that name")
    work.close()


def test_schedule_is_run_paused_and_resumed_on_pages_that_follow(hub: Hub, page: Page) -> None:
    seen, used = page.context.new_page(), page.context.new_page()
    for one in (seen, used):
        one.goto(f"http://127.0.0.1:{hub.port}/admin/work/", wait_until="load")
    seen.evaluate("window.isSamePage = true")
    wait_for(lambda: is_live(seen), "a live page", patience=20)
    place = "#work-schedules li:has(h3:text-is('Thin out numbers'))"
    good = seen.locator(f"{place} rect.mh-bar-good")
    before = good.count()
    used.click(f"{place} button:has-text('Run now')")
    used.wait_for_selector("text=requested. It runs as soon as a worker is free")
    wait_for(lambda: good.count() == before + 1, "the run as a bar", patience=20)
    used.click(f"{place} button:has-text('Pause')")
    seen.wait_for_selector(f"{place} >> text=Paused", timeout=(PUSHED + ROOM) * 1_000)
    used.click(f"{place} button:has-text('Resume')")
    seen.wait_for_selector(f"{place} >> text=Paused", state="detached", timeout=(PUSHED + ROOM) * 1_000)
    assert seen.is_visible(f"{place} button:has-text('Pause')")
    assert seen.evaluate("window.isSamePage")
    for one in (seen, used):
        one.close()


def test_two_reviewers_share_a_live_queue(hub: Hub, page: Page, browser: Browser, beside: Beside) -> None:
    session, keys = beside.run(DECISIONS)
    base = f"http://127.0.0.1:{hub.port}"
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
    rita, own = context.new_page(), page.context.new_page()
    for one in (rita, own):
        one.goto(f"{base}/admin/decisions/", wait_until="load")
        one.wait_for_selector(f".queue-row[data-key='{keys[0]}'][aria-current]")
        wait_for(partial(is_live, one), "a live page", patience=20)
    own.wait_for_selector(".queue-lookers:has-text('rita is looking at this.')", timeout=30_000)
    rita.wait_for_selector(f".queue-body[data-key='{keys[0]}']")
    rita.keyboard.press("a")
    own.wait_for_selector(f".queue-row[data-key='{keys[0]}']", state="detached", timeout=(PUSHED + ROOM) * 1_000)
    assert own.locator(f".queue-row[data-key='{keys[1]}']").count() == 1
    own.close()
    context.close()


@pytest.mark.usefixtures("worker_stopped_at")
def test_disk_that_is_nearly_full_is_said_until_it_is_not(hub: Hub, page: Page) -> None:
    file = Path(hub.data_dir) / "large"
    with file.open("wb") as large:
        os.posix_fallocate(large.fileno(), 0, int(shutil.disk_usage(hub.data_dir).free * 2 * SLACK))
    try:
        appears(page, "disk of the data directory is nearly full", "Warning", "Prune the timeline", time.time())
        assert check(hub, "disk") == "ok", "it ends to be ready below a fifth"
    finally:
        file.unlink()
    vanishes(page, "disk of the data directory")


@pytest.mark.usefixtures("worker_stopped_at")
def test_damaged_segment_is_said_until_its_file_is_whole(page: Page, beside: Beside) -> None:
    file = Path(beside.run(SEGMENT))
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) * 2 // 3])
    appears(page, "A segment of the timeline is damaged", "Critical", "See the segment", beside.run(VERIFY))
    file.write_bytes(whole)
    beside.run(VERIFY)
    vanishes(page, "A segment of the timeline is damaged")


@pytest.mark.usefixtures("worker_stopped_at")
def test_spent_budget_is_said_until_it_is_waived(page: Page, beside: Beside, model: ChatServer) -> None:
    model.say(Reply(usage=(150, 3)))
    appears(page, "for models is spent", "Critical", "See the budget", beside.run(CALL))
    budget = follow(page, "for models is spent")
    budget.click("text=Reset today's spending")
    budget.click("#dialog button[type=submit]")
    vanishes(page, "for models is spent")
    budget.close()


@pytest.mark.usefixtures("worker_stopped_at")
def test_open_breaker_is_said_until_the_provider_answers(page: Page, beside: Beside, model: ChatServer) -> None:
    model.say(Reply(status=500))
    appears(page, "is not answering properly", "Warning", "See the breakers", beside.run(CALL))
    model.say(Reply())
    time.sleep(1.0)  # its cooldown
    beside.run(CALL)
    vanishes(page, "is not answering properly")


def test_stopped_worker_is_said_within_a_minute_until_it_goes_on(
    hub: Hub, page: Page, worker_stopped_at: float
) -> None:
    within = worker_stopped_at + WORKER_SECONDS - time.time()
    appears(page, "The background worker has stopped", "Critical", "Restart worker", time.time(), within)
    page.wait_for_selector("#live-state[data-state=alarm]")  # no page is "live" beside a dead worker
    print(f"stopped worker: {time.time() - worker_stopped_at:.1f} s after SIGSTOP")
    assert "no worker has reported" in check(hub, "worker")
    os.killpg(hub.part("worker").pid, signal.SIGCONT)
    vanishes(page, "The background worker has stopped", within=10 + PUSHED + ROOM)
    page.wait_for_selector("#now-sentence:has-text('All well')", timeout=20_000)
    page.wait_for_selector("#live-state[data-state=live]")
    wait_for(lambda: hub.get("/readyz") == 200, "readiness", patience=20)
