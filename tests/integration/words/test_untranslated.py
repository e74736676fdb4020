"""Every word that a person or an operator sees is translated: pages in the language of tests show which are not.

`WORDS_OF=semantic pytest ...` looks at the pages of one package alone, `WORDS_OF=shell` at what is around all pages of
the admin, and says what is found even where it is still allowed.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve, reverse

from apps.accounts.services import account_create, password_link, person_create
from apps.webui.table import PAGES
from tests.integration.accounts.signing import set_up_app, sign_in, signed_in
from tests.integration.admin.test_page_frame import ELSEWHERE, QUERIES, REDIRECTS, filled, is_page, routes
from tests.integration.webui.person import ANA, remember, taken_back
from tests.integration.webui.test_pages import address
from tests.integration.words.pseudo import pseudo, stored_texts, untranslated

pytestmark = pytest.mark.django_db

WORDS_OF = os.environ.get("WORDS_OF", "")
# Packages whose pages in the admin are not translated yet.
STILL_ALLOWED = {
    "shell", "cockpit", "django_q", "work",
    "auth",  # names of groups of one's own, in a filter of the theme
}  # fmt: skip


def faults_of(
    answers: list[tuple[str, HttpResponse]], *, whole: bool = True, stored: set[str] | None = None
) -> list[str]:
    """Words that are not translated, with their page. whole: also those around the main part. stored: those known."""
    stored = stored_texts() if stored is None else stored
    return [
        f"{url}: {words}"
        for url, answer in answers
        if "text/html" in answer.get("Content-Type", "")
        for in_main, words in untranslated(answer.content.decode(), stored)
        if whole or in_main
    ]


def expect_none(faults: list[str]) -> None:
    """Fail with a line for each word."""
    if faults:
        pytest.fail("\n".join(["Not marked for translation:", *sorted(set(faults))]), pytrace=False)


def test_every_word_of_the_pages_of_a_person_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    remember(ANA, "Ana lives in Lisbon.")
    memory = remember(ANA, "Ana does not live in Lisbon.")
    login = person_create(username="ana-signs-in", person_id=ANA)
    kept, faults = stored_texts(), list[str]()
    pseudo(monkeypatch)
    for page in PAGES:
        url = address(page.name, memory)
        with taken_back(page.name):
            ana = Client()
            ana.force_login(login)
            shown = [(url, ana.get(url)), (f"{url} (no JavaScript)", ana.post(url, {"question": "lives"}, follow=True))]
            # What the page itself has stored is read where that makes a difference.
            faults += faults_of(shown) if faults_of(shown, stored=kept) else []
    expect_none(faults)


def test_every_word_for_strangers_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    ana = User.objects.create_user("ana", password="a long enough password", is_staff=True)
    link = password_link(login=ana)
    nowhere = Client()
    nowhere.force_login(account_create(username="olga", role=""))
    operator = Client()
    operator.force_login(account_create(username="rita", role="Operator"))
    pseudo(monkeypatch)
    stranger = Client()
    names = ["account_login", "account_reset_password", "account_reset_password_from_key_done", "account_inactive"]
    shown = [(name, stranger.get(reverse(name))) for name in names]
    shown += [
        ("choose", stranger.get(link, follow=True)),
        ("choose, wrongly", stranger.post(stranger.get(link).url, {"password1": "short", "password2": "other"})),
        ("too late", stranger.get("/accounts/password/reset/key/1-none/")),
        ("sign in, wrongly", stranger.post(reverse("account_login"), {"username": "ana", "password": "wrong"})),
        ("sign in, blank", stranger.post(reverse("account_login"), {})),
        ("first page", stranger.get("/")),
        ("not found", stranger.get("/nothing-here/")),
        ("no pages", operator.get("/")),
        ("no pages, refused", operator.get(reverse("webui:ask"))),
        ("no account of anything", nowhere.get("/")),
        ("no access", nowhere.get("/admin/", follow=True)),
    ]
    expect_none(faults_of(shown))


def test_every_word_of_ones_own_account_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in("ana", is_superuser=True)
    pseudo(monkeypatch)
    before = [(f"{url} before", client.get(url)) for url in account_addresses()]
    monkeypatch.undo()
    set_up_app(client)
    pseudo(monkeypatch)
    other = Client()
    sign_in(other)
    shown = [*before, *((url, client.get(url)) for url in account_addresses())]
    shown.append(("second factor", other.get(reverse("mfa_authenticate"))))
    shown.append(("wrong code", other.post(reverse("mfa_authenticate"), {"code": "000000"})))
    expect_none(faults_of(shown, whole=False))


def account_addresses() -> list[str]:
    """The addresses of one's own account that need no object."""
    found = [route for route, _ in routes() if route.startswith("accounts/") and "<" not in route]
    return ["/" + route for route in found if not any(part in route for part in (*ELSEWHERE, "logout"))]


def package_of(route: str, url: str) -> str:
    """The package that a page of the admin belongs to: that of its model, or of its view."""
    label = route.removeprefix("admin/").partition("/")[0]
    if label in {config.label for config in apps.get_app_configs()}:
        return label
    view: Any = resolve(url).func
    module: str = getattr(view, "__module__", "")
    return module.split(".")[1] if module.startswith("apps.") else "accounts" if "allauth" in module else "shell"


def test_every_word_of_the_admin_is_translated(
    owner: Client, timeline_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = stored_texts()
    pseudo(monkeypatch)
    faults: dict[tuple[str, str], str] = {}
    for route, name in routes():
        if not route.startswith("admin/") or route.endswith(REDIRECTS) or any(part in route for part in ELSEWHERE):
            continue
        for url in filled(route):
            package = package_of(route, url)
            if not is_wanted(package) and not is_wanted("shell"):
                continue
            answer = owner.get(url, QUERIES.get(name, {}))
            if is_page(answer):
                for in_main, words in untranslated(answer.content.decode(), stored):
                    faults.setdefault((package if in_main else "shell", words), url)
    expect_none([f"{package}: {words} ({url})" for (package, words), url in faults.items() if is_wanted(package)])


def is_wanted(package: str) -> bool:
    """Whether words of a package are reported."""
    return package == WORDS_OF if WORDS_OF else package not in STILL_ALLOWED


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<main><p>⟦Tea⟧ Milk</p></main>", ["Milk"]),
        ("<p>⟦Tea with <strong>milk</strong> and ⟦two⟧ cups⟧</p>", []),
        ("<p>⟦Tea, which is cut…</p><p>Milk</p>", ["Milk"]),
        ('<p title="Milk" aria-label="⟦Tea⟧"></p>', ["Milk"]),
        ('<input type="submit" value="Milk"><input type="text" value="Tea" placeholder="Cup">', ["Milk", "Cup"]),
        ('<p><bdi>Milk</bdi> <code>tea</code> <span translate="no">cup <b>of</b></span></p>', []),
        ("<p>apps.core.tasks MEMORYHUB_PORT 3 MB /api/keys</p>", []),
        ("<p>Ana prefers tea</p><p>prefers</p>", ["prefers"]),
        ("<script>const milk = 1</script><style>milk {}</style>", []),
    ],
)
def test_words_that_are_not_translated_are_found(html: str, words: list[str]) -> None:
    assert [found for _, found in untranslated(html, {"Ana prefers tea"})] == words
