"""The whole hub with real processes: these tests are the slow ones."""

import contextlib
import os
import re
import signal
import time
from urllib.parse import quote

import psutil
import pytest
from django.conf import settings

from apps.core.restart import request_restart
from tests.system.hub import Hub, alive, wait_for
from tests.system.test_web_processes import ask

pytestmark = pytest.mark.xdist_group("another hub")


@pytest.fixture(scope="module")
def place(make_place):
    hub = Hub(make_place() / "hub")
    hub.make_cluster()
    yield hub
    hub.end()


@pytest.fixture
def hub(place):
    """A hub that is up, started when it is not; the first start leaves its key in `place.key`."""
    if not place.is_up():
        place.start()
        if printed := re.search(r"Operator API key\s+(\S+)", place.said()):
            place.key = printed[1]
    return place


def gone(processes: list[psutil.Process]) -> bool:
    return not any(alive(process) for process in processes)


def test_a_hub_that_says_it_is_ready_is(hub):
    assert hub.get("/readyz") == 200
    assert f"http://127.0.0.1:{hub.port}/admin/" in hub.said()
    assert hub.get("/accounts/login/") == 200
    assert hub.get("/api/docs") == 200


def test_printed_key_opens_hub_and_another_does_not(hub):
    assert hub.get("/api/keys", hub.key) == 200
    assert hub.get("/api/keys", hub.key[::-1]) == 401


def test_memory_that_names_nobody_is_of_the_default_user_from_the_first_start_on(hub):
    assert "Default user       owner" in hub.said()
    status, saved = ask(hub, "POST", "/api/semantic/memories", {"content": "The bins are emptied on Mondays."})
    assert (status, saved["memory"]["user_id"]) == (201, "owner")


def test_static_files_are_served(hub):
    assert hub.get("/static/admin/css/base.css") == 200


def test_second_up_on_same_data_says_who_has_it(hub):
    answer = hub.command("up", MEMORYHUB_PORT=str(hub.port + 1))
    assert answer.returncode == 1
    assert f"process {hub.process.pid}" in answer.stdout
    assert "MEMORYHUB_DATA_DIR" in answer.stdout


def test_taken_port_is_named_before_anything_is_made(hub, tmp_path):
    answer = hub.command("up", MEMORYHUB_DATA_DIR=str(tmp_path / "other"))
    assert answer.returncode == 1
    assert f"Port {hub.port}" in answer.stdout
    assert "MEMORYHUB_PORT" in answer.stdout
    assert not (tmp_path / "other" / "postgres").exists()


def test_option_that_up_does_not_have_is_refused_before_anything_is_made(tmp_path):
    answer = Hub(tmp_path / "hub").command("up", "--nonsense", "5")
    assert answer.returncode == 1
    assert "unrecognized arguments: --nonsense 5" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (tmp_path / "hub").exists()


def test_another_command_uses_running_database_and_leaves_it_running(hub):
    pid = hub.database.pid
    code = "from apps.core.models import ApiKey; print(ApiKey.objects.count())"
    answer = hub.command("shell", "-v", "0", "-c", code)
    assert answer.stdout.strip() == "1", answer.stderr
    assert hub.database.pid == pid


@pytest.mark.parametrize("word", ["web", "worker"])
def test_killed_part_is_started_again_and_leaves_nothing_behind(hub, word):
    killed = hub.part(word)
    tree = [killed, *killed.children(recursive=True)]
    killed.kill()
    wait_for(lambda: gone(tree), f"the end of {word}")
    wait_for(lambda: hub.part(word).pid != killed.pid, f"a new {word}")
    wait_for(lambda: hub.get("/readyz") == 200, "readiness")
    assert "SIGKILL" in hub.said()


def test_killed_fork_server_is_started_again_and_so_are_its_parts(hub):
    parts = [hub.part("web"), hub.part("worker")]
    server = parts[0].parent()
    server.kill()
    wait_for(lambda: gone([server, *parts]), "the end of all")
    wait_for(lambda: not {hub.part("web").pid, hub.part("worker").pid} & {part.pid for part in parts}, "new parts")
    wait_for(lambda: hub.get("/readyz") == 200, "readiness")
    assert hub.part("web").parent().pid == hub.part("worker").parent().pid != server.pid


def test_processes_of_the_worker_that_are_ended_are_started_again(hub):
    worker = hub.part("worker")
    before = {process.pid: process for process in worker.children()}
    assert len(before) >= 3
    for process in before.values():
        process.terminate()
    wait_for(lambda: gone(list(before.values())), "the end of its processes")
    wait_for(lambda: len({process.pid for process in worker.children()} - before.keys()) >= 3, "new ones")
    wait_for(lambda: hub.get("/readyz") == 200, "readiness")
    assert hub.part("worker").pid == worker.pid


def test_a_worker_that_hangs_is_restarted_when_a_page_requests_it(hub):
    hanging = hub.part("worker")
    tree = [hanging, *hanging.children(recursive=True)]
    for process in tree:
        process.suspend()
    request_restart(hub.data_dir)
    wait_for(lambda: gone(tree), "the end of the worker that hangs")
    wait_for(lambda: hub.part("worker").pid != hanging.pid, "a new worker")
    wait_for(lambda: hub.get("/readyz") == 200, "readiness")
    assert "restarts the worker" in hub.said()


def test_a_killed_database_is_started_again(hub):
    pid = hub.database.pid
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: hub.database.pid not in (None, pid), "a new database")
    wait_for(lambda: hub.get("/readyz") == 200, "readiness")
    assert hub.get("/api/keys", hub.key) == 200


def test_what_killed_supervisor_started_ends_and_next_start_recovers(hub):
    below = psutil.Process(hub.process.pid).children(recursive=True)
    hub.process.kill()
    hub.process.wait()
    # A part that was still starting may leave children that do not hear of the death; the next start ends them.
    hub.start(MEMORYHUB_API_KEY="another-key-0123456789-0123456789")
    wait_for(lambda: gone(below), "the end of web and worker", patience=60)
    assert len(list((hub.data_dir / "run").glob("pymp-*"))) == 1, "what the killed one had is removed"
    assert "First start" not in hub.said()
    assert "MEMORYHUB_API_KEY is used only at the first start" in hub.said()
    assert hub.get("/api/keys", hub.key) == 200


def test_after_everything_was_killed_at_once_next_start_recovers(hub):
    everything = hub.processes()
    for deadly in (signal.SIGSTOP, signal.SIGKILL):
        for process in everything:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(deadly)
    hub.process.wait()
    wait_for(lambda: gone(everything), "the end of everything")
    hub.start()
    assert hub.get("/api/keys", hub.key) == 200


def test_the_second_ctrl_c_forces_the_end(hub):
    everything = hub.processes()
    hub.part("web").suspend()  # so that the first Ctrl-C has to wait
    hub.process.send_signal(signal.SIGINT)
    wait_for(lambda: "Stopping" in hub.said(), "the first to be heard")
    time.sleep(1.1)
    hub.process.send_signal(signal.SIGINT)
    assert hub.process.wait(3) == 130
    wait_for(lambda: gone(everything), "the end of everything", patience=30)


def test_request_to_stop_even_one_that_arrives_twice_stops_everything_in_time(hub):
    everything = hub.processes()
    began = time.monotonic()
    hub.process.send_signal(signal.SIGINT)
    hub.process.send_signal(signal.SIGTERM)
    assert hub.process.wait(20) == 0
    assert time.monotonic() - began < 10
    wait_for(lambda: gone(everything), "the end of everything", patience=30)
    assert "Stopped." in hub.said()


def test_command_without_hub_starts_database_and_stops_it(place):
    if place.is_up():
        place.process.send_signal(signal.SIGTERM)
        place.process.wait(20)
    code = "from django.db import connection as c; c.ensure_connection(); print(1)"
    answer = place.command("shell", "-v", "0", "-c", code)
    assert answer.stdout.strip() == "1", answer.stderr
    assert not place.database.is_running()


def test_database_url_that_nobody_answers_stops_start_without_showing_password(tmp_path):
    answer = Hub(tmp_path / "hub").command("up", DATABASE_URL="postgresql://me:s3cret-word@127.0.0.1:9/hub")
    assert answer.returncode == 1
    said = answer.stdout + answer.stderr
    assert "DATABASE_URL" in said
    assert "Traceback" not in said
    assert "s3cret-word" not in said


@pytest.mark.usefixtures("django_db_setup")
def test_database_url_of_server_without_pgvector_stops_start(tmp_path):
    server = Hub(settings.MEMORYHUB.data_dir).database
    with server.connect(dbname="postgres", user="postgres") as connection:
        connection.execute("CREATE DATABASE no_vector OWNER memoryhub TEMPLATE template0")
        connection.execute("ALTER DATABASE no_vector SET extension_control_path = '/nonexistent'")
    try:
        host = quote(settings.DATABASES["default"]["HOST"], safe="")
        answer = Hub(tmp_path / "hub").command("up", DATABASE_URL=f"postgresql://memoryhub@{host}/no_vector")
    finally:
        with server.connect(dbname="postgres", user="postgres") as connection:
            connection.execute("DROP DATABASE no_vector WITH (FORCE)")
    assert answer.returncode == 1
    assert "without pgvector" in answer.stdout + answer.stderr
    assert not (tmp_path / "hub" / "postgres").exists()


def test_wrong_setting_stops_start_with_its_name(tmp_path):
    answer = Hub(tmp_path / "hub").command("up", MEMORYHUB_WEB_PROCESSES="many")
    assert answer.returncode == 1
    assert "MEMORYHUB_WEB_PROCESSES" in answer.stderr
    assert "Traceback" not in answer.stderr
