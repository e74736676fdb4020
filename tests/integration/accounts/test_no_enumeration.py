"""No answer of the page to sign in says whether an account exists, by its words or by its time."""

import re
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.integration.accounts.signing import PASSWORD, sign_in

pytestmark = pytest.mark.django_db


def answer_to(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, int]:
    """The status and the text of a refusal, and how often a password was hashed for it."""
    count, encode = [], MD5PasswordHasher.encode

    def counted(self: Any, *words: Any) -> str:
        count.append(1)
        return str(encode(self, *words))

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    answer = sign_in(Client(), name, "wrong")
    monkeypatch.undo()
    text = re.sub(r'value="[^"]{64}"|nonce-\S+', "", answer.content.decode()).replace(name, "")
    return answer.status_code, text, len(count)


def test_no_refusal_says_whether_an_account_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    # Names that are no words of the page, from which they are taken out.
    User.objects.create_user("kestrel", password=PASSWORD)
    User.objects.create_user("plover", password=PASSWORD, is_active=False)
    User.objects.create_user("dunlin")
    for _ in range(6):  # also the sixth, which a limit refuses
        answers = [answer_to(name, monkeypatch) for name in ("kestrel", "plover", "dunlin", "curlew")]
        assert len(set(answers)) == 1
        assert answers[0][2] == (1 if answers[0][0] == 200 else 0)
    assert answers[0][0] == 429
    assert Client().get(reverse("account_reset_password")).status_code == 200
