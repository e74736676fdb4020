"""Pages of operators answer in Traditional Chinese when the browser asks for it, and in English otherwise."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db

PAGES = {
    "cockpit_now": ("現況", "處理程序", "Processes"),
    "cockpit_audit": ("稽核", "動作", "Kind of object"),
    "cockpit_people": ("人員", "ID 的一部分", "Part of an id"),
    "admin:llm_budgetday_changelist": ("模型", "未設定對話模型", "No chat model is configured"),
}


@pytest.mark.parametrize("name", PAGES)
def test_page_answers_in_chinese_or_english(name: str) -> None:
    title, chinese, english = PAGES[name]
    operator = Client()
    operator.force_login(User.objects.create_superuser("rita"))
    shown = operator.get(reverse(name), headers={"Accept-Language": "zh-TW,zh;q=0.9,en;q=0.5"})
    page = shown.content.decode()
    assert shown.headers["Content-Language"] == "zh-hant"
    assert f">{title}</h1>" in page
    assert chinese in page
    assert english not in page
    assert english in operator.get(reverse(name)).content.decode()


def test_scripts_say_what_the_page_has_in_chinese() -> None:
    operator = Client()
    operator.force_login(User.objects.create_superuser("rita"))
    page = operator.get(reverse("cockpit_now"), headers={"Accept-Language": "zh-TW"}).content.decode()
    assert 'data-connecting-sentence="正在連線到中樞。"' in page
