"""The personal data that `core` keeps."""

from apps.core.models import ApiKey
from apps.core.personal.store import PersonalStore


class KeyStore(PersonalStore):
    """Keys bound to a user. They are not exported: their secrets are not known."""

    name = "keys"
    order = 90
    models = (ApiKey,)


STORES = (KeyStore(),)
