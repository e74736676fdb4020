"""Sessions, in the database: a key that is none is never asked for there (settings.SESSION_ENGINE)."""

import re
from collections.abc import Iterator

from allauth.account.internal.stagekit import LOGIN_SESSION_KEY
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

# What Django makes (SessionBase._get_new_session_key).
KEY = re.compile(r"[a-z0-9]{32}")


class SessionStore(db.SessionStore):
    """Django's sessions, for keys that look like one: a cookie holds whatever a stranger puts into it."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key and KEY.fullmatch(key))


def sessions_of(login: User) -> Iterator[str]:
    """Yield the keys of the sessions in which an account is signed in, or was asked for its second factor.

    All that there are: the list that people see (`UserSession`) may miss one whose key was changed.
    """
    store, half_way = SessionStore(), user_pk_to_url_str(login)
    for row in store.model.objects.filter(expire_date__gt=utcnow(SYSTEM_CLOCK)).iterator():
        data = store.decode(row.session_data)
        begun = data.get(LOGIN_SESSION_KEY)
        if data.get(SESSION_KEY) == str(login.pk) or (isinstance(begun, dict) and begun.get("user_pk") == half_way):
            yield row.session_key
