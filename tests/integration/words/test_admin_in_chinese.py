"""Operators whose browser asks for Chinese read the lists and forms of all stores in it, and programs do not."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import Permission, Scope
from apps.core.services import key_create

pytestmark = pytest.mark.django_db

# Page -> words of its list or form.
PAGES = {
    "semantic_memory_changelist": ["沒有", "依語意與字詞，或 ID", "已非現行"],
    "semantic_consolidation_add": ["哪些記憶", "每次執行的上限", "只留意", "只比較這位使用者的記憶。"],
    "episodic_retentionpolicy_changelist": ["誰的事件", "保留"],
    "episodic_retentionpolicy_add": ["刪除較舊的事件", "從事件發生時起算。"],
    "episodic_timelineevent_timeline": ["最近一週", "應用程式記錄事件後就會出現。"],
    "rules_mergerule_changelist": ["由上而下第一個適用的規則決定"],
    "rules_mergerule_add": ["語意門檻", "餘弦相似度高於此值時，兩則記憶衝突。", "與 預設值 相同"],
    "notes_noteversion_changelist": ["尚無筆記。"],
    "notes_compaction_changelist": ["尚未壓縮整理任何 MEMORY.md。"],
    "sync_knowledgesource_changelist": ["來源是含有決策、政策等內容的 git 儲存庫或資料夾"],
    "sync_knowledgesource_add": ["指標與其項目不同時", "由人決定"],
    "events_event_changelist": ["事件的完整 ID"],
    "events_delivery_changelist": ["訂閱者"],
    "auth_user_changelist": ["第二重驗證", "權限角色", "超級使用者"],
    "auth_user_add": ["限定範圍", "無：不能進入"],
    "core_apikey_changelist": ["有效", "使用者 ana", "14 天內的使用情況"],
    "core_apikey_add": ["可看到全部", "金鑰只能存取符合所有已填欄位的內容。"],
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_in_the_language_of_its_reader(page: str, admin_client: Client, timeline_dir: Path) -> None:
    key_create(name="kitchen", scope=Scope("ana"), permission=Permission.WRITE, actor="test")
    answer = admin_client.get(reverse(f"admin:{page}"), headers={"accept-language": "zh-TW"})
    html = answer.content.decode()
    assert answer["Content-Language"] == "zh-hant"
    assert [words for words in PAGES[page] if words not in html] == []


def test_programs_are_answered_in_english(client: Client) -> None:
    _, secret = key_create(name="kitchen", scope=Scope("ana"), permission=Permission.WRITE, actor="test")
    headers = {"authorization": f"Bearer {secret}", "accept-language": "zh-TW"}
    answer = client.post("/api/semantic/memories", {"content": ""}, "application/json", headers=headers)
    assert answer.status_code == 400
    assert answer.content.isascii()
    schema = client.get("/api/schema", headers={"accept-language": "zh-TW"}).content.decode()
    assert "Save what you learn" in schema
    assert not any("\u4e00" <= one <= "\u9fff" for one in schema)
