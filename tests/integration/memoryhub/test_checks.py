import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from memoryhub import checks
from memoryhub.config.chat import ChatConfig, ChatModelConfig

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture
def configured(settings):
    def configure(**changes):
        settings.MEMORYHUB = dataclasses.replace(settings.MEMORYHUB, **changes)

    return configure


def ids(messages) -> list[str]:
    return [message.id for message in messages]


def test_tests_own_configuration_has_no_warning():
    call_command("check", fail_level="WARNING")


def test_data_directory_that_does_not_exist_yet_is_fine(configured, tmp_path):
    configured(data_dir=tmp_path / "not" / "yet")
    assert checks.check_data_directory() == []


def test_data_directory_that_cannot_be_written_is_reported(configured, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    configured(data_dir=tmp_path)
    (message,) = checks.check_data_directory()
    assert message.id == "memoryhub.W001"
    assert "MEMORYHUB_DATA_DIR" in message.msg


@pytest.mark.parametrize(
    ("url", "found"),
    [
        (None, ["memoryhub.W002"]),
        ("http://hub.example.org", ["memoryhub.W002"]),
        ("https://hub.example.org", []),
    ],
)
def test_a_deployed_hub_needs_an_https_address(configured, url, found):
    configured(public_url=url)
    assert ids(checks.check_public_url()) == found


@pytest.mark.parametrize(
    ("debug", "host", "found"),
    [
        (True, "0.0.0.0", ["memoryhub.W003"]),
        (True, "hub.example.org", ["memoryhub.W003"]),
        (True, "127.0.0.1", []),
        (True, "localhost", []),
        (False, "0.0.0.0", []),
    ],
)
def test_debug_pages_are_not_offered_to_other_machines(configured, debug, host, found):
    configured(debug=debug, host=host)
    assert ids(checks.check_debug()) == found


@pytest.mark.parametrize(
    ("password", "found"),
    [
        (None, []),
        ("admin", ["memoryhub.W004"]),
        ("1234567890123", ["memoryhub.W004"]),
        ("tall-green-kettle", []),
    ],
)
def test_a_weak_first_password_is_reported(configured, password, found):
    configured(admin_password=password)
    assert ids(checks.check_admin_password()) == found


def deploy_check(data_dir: Path, **environment: str) -> subprocess.CompletedProcess:
    names = {name: value for name, value in os.environ.items() if not name.startswith("MEMORYHUB_")}
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=PROJECT,
        env=names | {"MEMORYHUB_DATA_DIR": str(data_dir)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("timeout", "reservation", "found"),
    [(180, 900, []), (3_600, 900, ["memoryhub.W005"]), (58, 60, ["memoryhub.W005"]), (3_600, 4_000, [])],
)
def test_try_that_may_outlast_its_reservation_is_reported(configured, settings, timeout, reservation, found):
    model = ChatModelConfig("openai", "m", None, "key", 5, 60, timeout_seconds=timeout, settings="MEMORYHUB_CHAT")
    guards = dataclasses.replace(settings.MEMORYHUB.guards, reservation_seconds=reservation)
    configured(chat=ChatConfig(model), guards=guards)
    assert ids(checks.check_reservation()) == found


def test_the_deployed_configuration_is_clean(tmp_path):
    answer = deploy_check(tmp_path, MEMORYHUB_PUBLIC_URL="https://hub.example.org")
    assert answer.returncode == 0, answer.stderr
    assert "no issues" in answer.stdout


def test_a_deployment_without_https_is_reported(tmp_path):
    answer = deploy_check(tmp_path)
    assert answer.returncode != 0
    assert "memoryhub.W002" in answer.stderr
