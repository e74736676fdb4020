"""Sessions, in the database: a key that is none is never asked for there (settings.SESSION_ENGINE)."""

import re

from django.contrib.sessions.backends import db

# What Django makes (SessionBase._get_new_session_key).
KEY = re.compile(r"[a-z0-9]{32}")


class SessionStore(db.SessionStore):
    """Django's sessions, for keys that look like one: a cookie holds whatever a stranger puts into it."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key and KEY.fullmatch(key))
