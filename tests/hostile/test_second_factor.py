"""A code of a second factor opens one door, once: after setting up, at once in many processes, under a flood."""

from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import CachedValue
from tests.integration.accounts.signing import code_of, is_signed_in, set_up_app, sign_in, signed_in
from tests.threads import at_once

pytestmark = pytest.mark.django_db

HALF_MINUTE = 30
# As many as are tried for one account before a limit refuses them.
BROWSERS = 5


class SteppedClock:
    """The clock of authenticator apps. It stands still, so that no test runs into the next half minute."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SteppedClock:
    """Return the clock of the hub and of the app on the phone."""
    clock = SteppedClock()
    monkeypatch.setattr(auth, "time", clock)
    monkeypatch.setattr("tests.integration.accounts.signing.time", clock)
    return clock


def half_way() -> Client:
    """A browser that knows the password, and is asked for the second factor."""
    client = Client()
    assert sign_in(client).headers["Location"] == reverse("mfa_authenticate")
    return client


def gets_in(client: Client, code: str) -> bool:
    """Whether a code signs a browser in."""
    client.post(reverse("mfa_authenticate"), {"code": code})
    return is_signed_in(client)


def test_code_that_set_up_an_app_signs_nobody_in(clock: SteppedClock) -> None:
    secret = set_up_app(signed_in("ana", is_superuser=True))
    code, thief = code_of(secret), half_way()
    assert not gets_in(thief, code)
    assert not gets_in(thief, f"{code[:3]} {code[3:]}")
    clock.now += HALF_MINUTE
    assert not gets_in(thief, code)
    assert gets_in(thief, code_of(secret))


def test_code_that_set_up_an_app_proves_nothing_again(clock: SteppedClock) -> None:
    browser = signed_in("ana", is_superuser=True)
    secret = set_up_app(browser)
    browser.post(reverse("mfa_reauthenticate"), {"code": code_of(secret)})
    methods = browser.session["account_authentication_methods"]
    assert [one["method"] for one in methods] == ["password", "password"]
    clock.now += HALF_MINUTE
    browser.post(reverse("mfa_reauthenticate"), {"code": code_of(secret)})
    assert browser.session["account_authentication_methods"][-1]["method"] == "mfa"


def test_used_codes_are_noted_where_all_processes_look(clock: SteppedClock) -> None:
    secret = set_up_app(signed_in("ana", is_superuser=True))
    user = User.objects.get().pk
    assert CachedValue.objects.filter(cache_key__endswith=f"totp.used?user={user}&code={code_of(secret)}").exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_code_sent_at_once_signs_in_one_browser(clock: SteppedClock, kind: str) -> None:
    secret = set_up_app(signed_in("ana", is_superuser=True))
    clock.now += HALF_MINUTE
    recovery = Authenticator.objects.get(type=Authenticator.Type.RECOVERY_CODES).wrap().get_unused_codes()[0]
    code = code_of(secret) if kind == "app" else recovery
    browsers = [half_way() for _ in range(BROWSERS)]
    found = at_once(*(lambda one=one: gets_in(one, code) for one in browsers))
    assert sorted(found) == [False] * (BROWSERS - 1) + [True]


def flood(count: int) -> None:
    """Fill the cache as attempts from many addresses do, all of which still count."""
    until = timezone.now() + timedelta(minutes=10)
    # Of names that were chosen so that those of others come first, of which Django's own cache drops a third.
    named = (f":1:allauth:rl:allauth.account:login_failed:5/300.0s/key:f{n:063x}" for n in range(count))
    CachedValue.objects.bulk_create(
        CachedValue(cache_key=key, value="gASVBQAAAAAAAABdlC4=", expires=until) for key in named
    )


def test_flood_of_attempts_makes_no_used_code_work(clock: SteppedClock) -> None:
    secret = set_up_app(signed_in("ana", is_superuser=True))
    thief = half_way()
    flood(10_001)
    cache.set("another", 1)
    assert not gets_in(thief, code_of(secret))


def test_flood_of_attempts_makes_no_count_forgotten() -> None:
    User.objects.create_superuser("ana", password="a long enough password")
    for n in range(5):
        sign_in(Client(), "ana", f"wrong-{n}")
    assert sign_in(Client(), "ana").status_code == 429
    flood(10_001)
    cache.set("another", 1)
    assert sign_in(Client(), "ana").status_code == 429
    CachedValue.objects.update(expires=timezone.now() - timedelta(minutes=1))
    cache.set("another", 1)
    assert CachedValue.objects.count() == 1
