"""Settings of notes over REST and in their file (spec 001, settings API and the seven fields for models)."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from apps.core.domain.scope import Permission, Scope
from apps.core.personal.store import ExportRequest
from apps.llm.model_catalogue import ListedModel, ListedProvider, ModelsListing
from apps.llm.providers.configured import ModelRole
from apps.llm.providers.model_lists import ModelList
from apps.notes.domain.places import CONFIG as CONFIG_PLACE
from apps.notes.domain.places import folder_name
from apps.notes.domain.settings import SAFE, SETTINGS, BrokenConfigError, MemoryConfig, camel_name
from apps.notes.domain.text import digest
from apps.notes.files.config import changed_text, config_of, look, set_aside
from apps.notes.files.desk import Desk
from apps.notes.files.versions import DISK
from apps.notes.models import NoteVersion
from apps.notes.personal.stores import NoteStore
from apps.notes.schemas.config import ConfigInput, ConfigOutput
from tests.api import Api, api_for

pytestmark = pytest.mark.django_db
CONFIG = "/api/memory/config"
DEFAULTS = {camel_name(name): setting.default for name, setting in SETTINGS.items()}


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


@pytest.fixture
def file(notes_dir):
    """The path of ana's settings, in a folder that exists."""
    path = notes_dir / "users" / folder_name("ana") / "memory-config.json"
    path.parent.mkdir(parents=True)
    return path


def put(api: Api, body: dict[str, Any], method: str = "PUT") -> Any:
    return api.call(method, CONFIG, body)


def settings_of(api: Api) -> dict[str, Any]:
    response = api.get(CONFIG)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_settings_api(ana, file):
    """Spec 001, 設定 API: GET and PUT /api/memory/config read and write the settings."""
    assert settings_of(ana) == {**DEFAULTS, "problems": []}
    assert not file.exists()
    answer = put(ana, {"enabled": False, "autoExtract": False, "flushThreshold": 0.6})
    assert answer.json() == {
        **DEFAULTS, "enabled": False, "autoExtract": False, "flushThreshold": 0.6, "problems": []
    }  # fmt: skip
    assert json.loads(file.read_text()) == {"enabled": False, "autoExtract": False, "flushThreshold": 0.6}
    assert settings_of(ana) == answer.json()
    assert config_of("ana") == MemoryConfig(enabled=False, auto_extract=False, flush_threshold=0.6)


def test_settings_of_the_quality_gate(ana):
    """Spec 001, 品質閘門設定."""
    shown = settings_of(ana)
    assert (shown["llmGatingEnabled"], shown["llmGatingModel"]) == (False, "gpt-4o-mini")
    put(ana, {"llmGatingEnabled": True, "llmGatingModel": "claude-haiku-4-5"})
    assert (config_of("ana").llm_gating_enabled, config_of("ana").llm_gating_model) == (True, "claude-haiku-4-5")


def test_settings_of_the_extraction_by_a_model(ana):
    """Spec 001, 智慧提取設定."""
    shown = settings_of(ana)
    assert (shown["llmExtractionEnabled"], shown["llmExtractionModel"]) == (False, "gpt-4o-mini")
    assert shown["llmExtractionMaxMessages"] == 20
    put(ana, {"llmExtractionEnabled": True, "llmExtractionModel": "local", "llmExtractionMaxMessages": 8})
    config = config_of("ana")
    assert (config.llm_extraction_enabled, config.llm_extraction_model) == (True, "local")
    assert config.llm_extraction_max_messages == 8


def test_settings_of_the_compaction(ana):
    """Spec 001, 記憶壓縮設定."""
    shown = settings_of(ana)
    assert (shown["llmCompactionEnabled"], shown["llmCompactionModel"]) == (False, "gpt-4o-mini")
    assert (shown["llmCompactionFactThreshold"], shown["llmCompactionAutoApply"]) == (30, False)
    put(ana, {"llmCompactionEnabled": True, "llmCompactionFactThreshold": 80})
    assert (config_of("ana").llm_compaction_enabled, config_of("ana").llm_compaction_fact_threshold) == (True, 80)


def test_backward_compatibility(ana, file):
    """Spec 001, 向下相容: a file without the new fields is filled from defaults, and is not touched."""
    older = '{\r\n    "enabled": true,\r\n    "flushThreshold" : 0.90,\r\n    "theme": {"b": 1, "a": [1.00]}\r\n}'
    file.write_bytes(older.encode())
    assert settings_of(ana) == {**DEFAULTS, "flushThreshold": 0.9, "problems": []}
    assert config_of("ana") == MemoryConfig(flush_threshold=0.9)
    assert file.read_bytes() == older.encode()


def test_unknown_keys_and_the_form_of_the_file_stay(ana, file):
    file.write_bytes('\ufeff{\r\n\t"x": {"b": 1, "a": [1.00]},\r\n\t"flushThreshold" : 0.90,\r\n\t"é": 1\r\n}'.encode())
    assert put(ana, {"flushThreshold": 0.5, "enabled": False}).status_code == 200
    assert file.read_bytes().decode() == (
        '\ufeff{\r\n\t"x": {"b": 1, "a": [1.00]},\r\n\t"flushThreshold" : 0.5,\r\n\t"é": 1,\r\n\t"enabled": false\r\n}'
    )


def test_put_and_patch_change_what_is_named(ana):
    put(ana, {"minNewMessages": 9})
    put(ana, {"enabled": False}, "PATCH")
    assert config_of("ana") == MemoryConfig(min_new_messages=9, enabled=False)
    assert put(ana, {}).json()["minNewMessages"] == 9


def test_what_was_answered_may_be_sent_back(ana, file):
    shown = settings_of(ana)
    assert put(ana, {**shown, "minNewMessages": 7}).json() == {**shown, "minNewMessages": 7}
    versions = NoteVersion.objects.filter(user_id="ana").count()
    put(ana, {**shown, "minNewMessages": 7})
    assert NoteVersion.objects.filter(user_id="ana").count() == versions, "nothing was changed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("flushThreshold", 1.01),
        ("flushThreshold", "0.5"),
        ("extractIntervalSeconds", -1),
        ("minNewMessages", 0),
        ("minNewMessages", None),
        ("enabled", "true"),
        ("llmGatingModel", ""),
        ("llmGatingModel", "a\nb"),
        ("llmExtractionModel", "x" * 201),
        ("llmExtractionMaxMessages", 0),
        ("autoExtact", True),
        ("flush_threshold", 0.5),
    ],
)
def test_bad_value_is_refused_by_its_name(ana, file, name, value):
    refused = put(ana, {"enabled": False, name: value})
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, name)
    assert not file.exists(), "nothing of it was written"


def test_bad_setting_in_the_file_is_named_and_the_others_hold(ana, file):
    file.write_text('{"flushThreshold": "a lot", "minNewMessages": 9, "llmGatingModel": 5}')
    shown = settings_of(ana)
    assert (shown["flushThreshold"], shown["minNewMessages"]) == (0.75, 9)
    assert [(each["code"], each["attr"]) for each in shown["problems"]] == [
        ("invalid_setting", "flushThreshold"),
        ("invalid_setting", "llmGatingModel"),
    ]
    assert "a lot" not in json.dumps(shown)
    mended = put(ana, {"flushThreshold": 0.5}).json()
    assert [each["attr"] for each in mended["problems"]] == ["llmGatingModel"]


def save(file: Path, text: bytes, seconds_ago: float = 60) -> None:
    """Write a file as an editor did that is done since."""
    file.write_bytes(text)
    then = time.time() - seconds_ago
    os.utime(file, (then, then))


BROKEN = {"cut off": b"{enabled: false", "list": b"[]", "not utf-8": b'{"a": "\xff"}', "large": b" " * 6_000_000}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_file_is_set_aside(ana, file, caplog, text):
    save(file, text)
    assert config_of("ana") == SAFE
    aside = list(file.parent.glob("memory-config.json.broken-*"))
    assert [each.read_bytes() == text for each in aside] == [True]
    assert not file.exists()
    shown = settings_of(ana)
    assert [(each["code"], each["attr"]) for each in shown["problems"]] == [("set_aside", None)]
    assert aside[0].name in shown["problems"][0]["detail"]
    assert "set aside" in caplog.text
    assert "enabled" not in caplog.text
    assert put(ana, {"minNewMessages": 9}).json()["problems"] == []
    assert config_of("ana") == replace(SAFE, min_new_messages=9)
    assert aside[0].read_bytes() == text


def test_several_broken_files_are_all_kept(ana, file):
    for number in range(3):
        save(file, b"broken %d" % number)
        assert settings_of(ana)["problems"][0]["code"] == "set_aside"
    texts = {each.read_text() for each in file.parent.glob("memory-config.json.broken-*")}
    assert texts == {"broken 0", "broken 1", "broken 2"}


@pytest.mark.parametrize("text", [*BROKEN.values(), b"", None], ids=[*BROKEN, "empty", "gone"])
def test_listening_stays_off_while_the_file_is_broken(ana, file, text):
    put(ana, {"enabled": False, "minNewMessages": 9})
    if text is None:
        file.unlink()
    else:
        save(file, text)
    off = MemoryConfig(enabled=False, min_new_messages=9)
    for _ in range(2):
        assert config_of("ana") == off
        shown = settings_of(ana)
        assert (shown["enabled"], shown["minNewMessages"], len(shown["problems"])) == (False, 9, 1)
    assert put(ana, {"autoExtract": False}).json()["problems"] == []
    assert config_of("ana") == replace(off, auto_extract=False)
    assert json.loads(file.read_text()) == {"enabled": False, "autoExtract": False, "minNewMessages": 9}


def test_switch_of_a_wrong_type_keeps_its_last_valid_value(ana, file):
    file.write_text('{"enabled": "false"}')
    assert config_of("ana") == MemoryConfig(enabled=False)
    put(ana, {"enabled": False})
    assert settings_of(ana)["problems"] == []
    file.write_text('{"enabled": "true", "minNewMessages": 9}')
    assert config_of("ana") == MemoryConfig(enabled=False, min_new_messages=9)
    assert settings_of(ana)["problems"][0]["attr"] == "enabled"
    save(file, b"{")
    assert config_of("ana") == MemoryConfig(enabled=False, min_new_messages=9)
    file.write_text("{}")
    assert config_of("ana") == MemoryConfig()
    assert settings_of(ana)["problems"] == []


def test_symbolic_link_leaves_what_held(ana, file, tmp_path):
    put(ana, {"enabled": False})
    (tmp_path / "on.json").write_text('{"enabled": true}')
    file.unlink()
    file.symlink_to(tmp_path / "on.json")
    assert config_of("ana") == MemoryConfig(enabled=False)


def test_broken_file_that_is_being_saved_stays_where_it_is(ana, file):
    put(ana, {"enabled": False})
    file.write_bytes(b'{"enabled": fal')
    assert config_of("ana") == MemoryConfig(enabled=False)
    assert [each["code"] for each in settings_of(ana)["problems"]] == ["unsettled"]
    refused = put(ana, {"minNewMessages": 9})
    assert (refused.status_code, refused["Retry-After"]) == (503, "3")
    assert file.read_bytes() == b'{"enabled": fal'
    file.write_bytes(b'{"enabled": false, "minNewMessages": 8}')
    assert put(ana, {"flushThreshold": 0.5}).json()["minNewMessages"] == 8
    assert not list(file.parent.glob("memory-config.json.broken-*"))


def test_file_that_was_mended_before_it_is_set_aside_stays(file):
    """An editor saves between the look and the renaming: the text is not the one that was broken."""
    desk = Desk("ana", CONFIG_PLACE, DISK, datetime.now(UTC))
    for good in (b'{"enabled": false}', b"[]"):
        save(file, good)
        for expected in (digest(b"{"), None):
            assert set_aside(desk, "is not JSON", expected) is None
            assert [each.name for each in file.parent.glob("memory-config*")] == ["memory-config.json"]
            assert file.read_bytes() == good
    file.unlink()
    assert set_aside(desk, "is not JSON", digest(b"{")) is None
    assert look(desk).config == MemoryConfig()


def test_file_that_is_broken_before_a_change_is_not_an_error_of_the_hub(file):
    with pytest.raises(BrokenConfigError):
        changed_text(b'{"enabled": fal', {"enabled": False}, "ana")


def test_symbolic_link_and_folder_are_not_read_and_not_replaced(ana, file, tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_text('{"enabled": true}')
    file.symlink_to(outside)
    for expected in ("link", "folder"):
        assert config_of("ana") == SAFE, expected
        refused = (ana.get(CONFIG), put(ana, {"enabled": False}))
        assert [each.status_code for each in refused] == [409, 409]
        assert refused[0].json()["errors"][0]["code"] == "not_a_file"
        if expected == "link":
            file.unlink()
            file.mkdir()
    assert outside.read_text() == '{"enabled": true}'
    assert file.is_dir()


def test_former_settings_are_versions_which_can_be_restored(ana):
    put(ana, {"minNewMessages": 9})
    put(ana, {"minNewMessages": 10})
    versions = ana.get("/api/memory/versions?path=memory-config.json").json()["results"]
    assert [each["kind"] for each in versions] == ["edit", "edit"]
    ana.post(f"/api/memory/versions/{versions[1]['id']}/restore")
    assert config_of("ana").min_new_messages == 9


def test_key_sees_only_the_settings_of_its_user(ana):
    put(ana, {"minNewMessages": 9})
    ben = api_for(Scope("ben"))
    assert ben.get(f"{CONFIG}?user_id=ana").status_code == 404
    assert put(ben, {"enabled": False, "user_id": "ana"}).status_code == 403
    assert settings_of(ben)["minNewMessages"] == 4
    reader = api_for(Scope("ana"), Permission.READ)
    assert settings_of(reader)["minNewMessages"] == 9
    assert put(reader, {"enabled": False}).status_code == 403


def test_settings_are_exported_come_back_and_are_forgotten_with_the_person(ana, file):
    file.write_text('{"minNewMessages": 9, "x": 1.0}')
    store = NoteStore()
    lines = list(store.export(ExportRequest()))
    assert [(line["path"], line["text"]) for line in lines] == [("memory-config.json", file.read_text())]
    settings_of(ana)
    assert store.count("ana") == sum(store.forget("ana")) == 2
    assert (list(store.find("ana")), store.is_empty(), config_of("ana")) == ([], True, MemoryConfig())
    assert store.load(lines) == 1
    assert config_of("ana").min_new_messages == 9


def test_names_of_the_api_are_those_of_the_file():
    assert set(ConfigInput().fields) - {"user_id", "problems"} == set(SETTINGS)
    assert set(ConfigOutput.__annotations__) - {"problems"} == set(SETTINGS)


@pytest.mark.django_db(transaction=True)
def test_two_changes_at_once_are_both_kept(file):
    numbers = {"minNewMessages": 9, "extractIntervalSeconds": 9, "llmExtractionMaxMessages": 9}
    file.write_text('{"mine": 1}')
    api = api_for(Scope("ana"))

    def change(name: str) -> int:
        try:
            return int(put(api, {name: numbers[name]}).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(change, numbers)) == [200] * 3
    assert json.loads(file.read_text()) == {"mine": 1, **numbers}


def test_model_that_does_not_exist_is_refused_when_it_is_saved(ana, monkeypatch):
    """Spec 001, 模型選擇: one of the models that the providers list, or the one that was chosen before."""
    put(ana, {"llmGatingModel": "chosen-before"})
    provider = ListedProvider("openai", ModelRole.PRIMARY, ModelList(("gpt-4o", "gpt-4o-mini")))
    models = tuple(ListedModel(name, "openai", None, True, ()) for name in provider.list.names)
    listing = ModelsListing((provider,), models)
    monkeypatch.setattr("apps.notes.services.models_listing", lambda: listing)
    refused = ana.call("PUT", CONFIG, {"llmCompactionModel": "gpt-9", "autoExtract": False})
    error = refused.json()["errors"][0]
    assert (refused.status_code, error["attr"], error["code"]) == (400, "llmCompactionModel", "model_not_available")
    assert settings_of(ana)["autoExtract"] is True
    put(ana, {"llmCompactionModel": "gpt-4o", "llmGatingModel": "chosen-before"})
    silent = ListedProvider("local", ModelRole.FALLBACK, ModelList(problem="no answer"))
    listing = ModelsListing((provider, silent), models)
    put(ana, {"llmCompactionModel": "may-be-local"})
