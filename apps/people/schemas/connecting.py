"""Inputs and outputs of connecting an app by a code."""

from typing import Annotated, TypedDict

from apps.core.domain.keys import MAX_NAME_CHARS
from apps.core.domain.scope import Permission
from apps.core.schemas.fields import StrictCharField, StrictChoiceField
from apps.core.schemas.serializers import StrictSerializer

WANTED = [Permission.READ.value, Permission.WRITE.value]
MAX_CODE_CHARS = 200


class ConnectInput(StrictSerializer):
    """What an app is called, and what it wants to do."""

    name = StrictCharField(max_length=MAX_NAME_CHARS, help_text="The name by which the person knows the app.")
    permission = StrictChoiceField(
        choices=WANTED,
        required=False,
        default=Permission.READ.value,
        help_text="What the app asks for. The person may reduce it to read.",
    )


class ConnectTokenInput(StrictSerializer):
    """The code of the app."""

    device_code = StrictCharField(max_length=MAX_CODE_CHARS)


class ConnectOutput(TypedDict):
    """What an app is given, and what it shows to the person."""

    device_code: Annotated[str, "The app's own code. It is shown only once."]
    user_code: Annotated[str, "What the person types: 8 letters, shown as ABCD-EFGH."]
    verification_uri: Annotated[str, "Where the person types it."]
    expires_in: Annotated[int, "How many seconds both codes are valid."]
    interval: Annotated[int, "How many seconds the app should wait between polls."]


class ConnectTokenOutput(TypedDict):
    """The key that an app was given."""

    key: Annotated[str, "The secret. It is shown only once."]
    id: Annotated[str, "The id of the key."]
    name: Annotated[str, "The name of the key; with a number added if another key already has the app's name."]
    permission: Annotated[str, "What the person allowed: read or write."]
    user_id: Annotated[str, "Whose memories the key is bound to."]
