"""Pages are in the language that the account chose, or the browser; answers for programs are in English."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from apps.accounts.models import Account
from apps.accounts.services import account_create, account_show_in
from apps.core.domain.errors import InvalidInputError
from tests.integration.webui.person import ANA, browser_of

pytestmark = pytest.mark.django_db

ENGLISH, CHINESE = "en", "zh-hant"


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("zh-TW,zh;q=0.9,en;q=0.8", CHINESE),
        ("zh-HK", CHINESE),
        ("zh-Hant-TW", CHINESE),
        ("zh", CHINESE),
        ("de,zh-TW;q=0.7,en;q=0.5", CHINESE),
        ("en-GB,zh-TW;q=0.5", ENGLISH),
        ("de", ENGLISH),
        ("*", ENGLISH),
        ("x" * 5_000, ENGLISH),
    ],
)
def test_browser_asks_for_a_language(client: Client, asked: str, language: str) -> None:
    answer = client.get("/", headers={"accept-language": asked})
    assert answer["Content-Language"] == language
    assert {"Accept-Language", "Cookie"} <= set(answer["Vary"].split(", "))


def test_a_cookie_counts_before_the_browser(client: Client) -> None:
    client.cookies["language"] = CHINESE
    assert client.get("/", headers={"accept-language": "en"})["Content-Language"] == CHINESE


def test_an_account_counts_before_the_cookie(db: None) -> None:
    ana = browser_of(ANA)
    ana.cookies["language"] = ENGLISH
    account_show_in(login=Account.objects.get(person_id=ANA).login, language=CHINESE)
    page = ana.get("/")
    assert page["Content-Language"] == CHINESE
    assert '<html lang="zh-hant"' in page.content.decode()


def test_the_language_ends_with_the_request(client: Client) -> None:
    client.get("/", headers={"accept-language": "zh-TW"})
    assert translation.get_language() == ENGLISH


def test_programs_are_answered_in_english(client: Client) -> None:
    for path in ("/api/semantic/memories", "/healthz", "/api/"):
        answer = client.get(path, headers={"accept-language": "zh-TW"})
        assert "Content-Language" not in answer
        assert answer.content.isascii()


def test_error_pages_are_in_the_language_of_the_reader(client: Client) -> None:
    answer = client.get("/nothing-here/", headers={"accept-language": "zh-TW"})
    assert answer.status_code == 404
    assert answer["Content-Language"] == CHINESE
    assert '<html lang="zh-hant"' in answer.content.decode()


def test_a_choice_that_there_is_not_is_refused() -> None:
    login = account_create(username="olga", role="Operator")
    for wrong in ({"language": "xx"}, {"time_zone": "Mars/Olympus"}, {"time_zone": "../etc/passwd"}):
        with pytest.raises(InvalidInputError):
            account_show_in(login=login, **wrong)
    assert not Account.objects.filter(login=login).exists()


def test_a_choice_does_not_bind_an_account() -> None:
    login = account_create(username="olga", role="Operator")
    account_show_in(login=login, language=CHINESE)
    operator = Client()
    operator.force_login(login)
    answer = operator.get(reverse("admin:semantic_memory_changelist"))
    assert answer.status_code == 200
    assert answer["Content-Language"] == CHINESE


def choose(browser: Client, language: str, **more: str) -> str:
    """Choose a language, and return where that leads back to."""
    answer = browser.post(reverse("account_language"), {"language": language, **more})
    assert answer.status_code == 302
    return answer["Location"]


def test_visitors_choose_a_language_that_stays(client: Client) -> None:
    page = client.get(reverse("account_login"))
    assert "繁體中文" in page.content.decode()
    assert choose(client, CHINESE, next="/accounts/login/?next=/") == "/accounts/login/?next=/"
    assert client.get("/", headers={"accept-language": "en"})["Content-Language"] == CHINESE
    assert client.cookies["language"]["httponly"]
    assert client.cookies["language"]["samesite"] == "Lax"


def test_a_language_is_named_in_itself(client: Client) -> None:
    for asked in ("en", "zh-TW"):
        page = client.get("/", headers={"accept-language": asked}).content.decode()
        assert ">English</button>" in page
        assert ">繁體中文</button>" in page


def test_staff_choose_a_language_in_the_menu() -> None:
    login = account_create(username="olga", role="Operator")
    operator = Client()
    operator.force_login(login)
    assert "繁體中文" in operator.get("/admin/").content.decode()
    assert choose(operator, CHINESE, next="/admin/") == "/admin/"
    elsewhere = Client()
    elsewhere.force_login(login)
    assert elsewhere.get("/admin/")["Content-Language"] == CHINESE


def test_a_choice_leads_to_no_other_host(client: Client) -> None:
    for wrong in ("https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil.example", ""):
        assert choose(client, CHINESE, next=wrong) == "/"


def test_a_language_that_there_is_not_changes_nothing(client: Client) -> None:
    choose(client, "xx")
    assert "language" not in client.cookies
    assert client.get(reverse("account_language")).status_code == 405
