"""What a certificate keeps of a user's id: a hash that cannot be computed without the secret key of the hub."""

import hashlib
import hmac

from django.conf import settings


def user_digest(user_id: str) -> str:
    """Return HMAC-SHA256 of an id in hexadecimal digits, with a key derived from the hub's secret key."""
    key = hashlib.sha256(b"memoryhub erasure\0" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, user_id.encode(), hashlib.sha256).hexdigest()
