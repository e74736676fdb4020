"""The personal data that `core` keeps."""

from apps.core.models import ApiKey, KeyDay, LockedUser
from apps.core.personal.admin_log import AdminStore
from apps.core.personal.keys import KeyErasure


class KeyStore(KeyErasure):
    """Keys bound to a user or granted one. They are not exported: their secrets are not known."""

    name = "keys"
    order = 90
    models = (ApiKey, KeyDay, LockedUser)


STORES = (KeyStore(), AdminStore())
