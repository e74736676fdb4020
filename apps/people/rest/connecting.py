"""Connecting an app by a code, in the manner of RFC 8628: without a key, since it asks for one."""

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.selectors import client_address
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission
from apps.core.pages.addresses import hub_address
from apps.core.rest.views import HubView, operation
from apps.people import services
from apps.people.schemas.connecting import ConnectInput, ConnectOutput, ConnectTokenInput, ConnectTokenOutput

NO_STORE = {"Cache-Control": "no-store"}


class ConnectView(HubView):
    """An app asks for a key."""

    authentication_classes = ()
    permission_classes = ()

    @operation("apps_connect", body=ConnectInput, answer=ConnectOutput, errors=(429,), auth=[])
    def post(self, request: Request) -> Response:
        """Ask for a key with a code.

        Show the code to the person, who types it on the page *Apps*, and ask for the key until they answered. Needs no
        key. 429 for an address that asks too often.
        """
        data = self.read_body()
        codes = services.connection_request(
            name=data["name"], permission=Permission(data["permission"]), address=client_address(request)
        )
        left = codes.request.expires_at - utcnow(SYSTEM_CLOCK)
        answer: ConnectOutput = {
            "device_code": codes.device_code,
            "user_code": services.show_user_code(codes.user_code),
            "verification_uri": hub_address(request) + reverse("webui:connect"),
            "expires_in": round(left.total_seconds()),
            "interval": codes.request.interval,
        }
        return Response(answer, headers=NO_STORE)


class ConnectTokenView(HubView):
    """An app asks whether the person has answered."""

    authentication_classes = ()
    permission_classes = ()

    @operation("apps_connect_token", body=ConnectTokenInput, answer=ConnectTokenOutput, auth=[])
    def post(self, request: Request) -> Response:
        """Fetch the key once the person has confirmed it.

        The answer is the only one that ever shows the key. Until then 400 with a code: `authorization_pending` (ask
        again after `interval` seconds), `slow_down` (5 seconds later each time), `access_denied` or `expired_token`
        (the end).
        """
        data = self.read_body()
        key, secret = services.connection_fetch(device_code=data["device_code"])
        answer: ConnectTokenOutput = {
            "key": secret,
            "id": str(key.uuid),
            "name": key.name,
            "permission": key.permission,
            "user_id": key.user_id,
        }
        return Response(answer, headers=NO_STORE)
