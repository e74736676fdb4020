"""An app asks for a key with a code, a person answers, the app fetches it once. Codes are kept as digests alone."""

import ipaddress
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, QuerySet
from django.utils.crypto import salted_hmac

from apps.audit.services import record
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError, NotFoundError, ThrottledError
from apps.core.domain.scope import PERMISSION_ORDER, Permission, Scope
from apps.core.models import ApiKey
from apps.core.pauses import PERSON
from apps.core.services import key_create, unused_name
from apps.people.models import ConnectionRequest, ConnectionState

# Without vowels, so that no word comes about, and without letters that look like others (RFC 8628, 6.1).
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
USER_CODE_CHARS = 8
_SALT = "memoryhub.people.connecting"
# A device has as many addresses as it likes within 64 bits of IPv6, and a line of a provider up to 48 bits.
CLIENT_BITS = {4: 32, 6: 64}
BLOCK_BITS = {4: 24, 6: 48}
LIFETIME = timedelta(minutes=10)
INTERVAL_SECONDS = 5
# How much an app that asks too often has to wait longer each time (RFC 8628, 3.5).
SLOWER_SECONDS = 5
MAX_INTERVAL_SECONDS = 60
# Requests of one client, of the block of addresses around it, and of all, within a lifetime.
MAX_PER_CLIENT, MAX_PER_BLOCK, MAX_IN_ALL = 20, 60, 1_000
# An advisory lock with a key of its own: requests are counted one after the other.
COUNT_LOCK = 0x636F_6E6E


def new_user_code() -> str:
    """Return a code for the person: 8 letters, of 2.5e10 that there are."""
    return "".join(secrets.choice(LETTERS) for _ in range(USER_CODE_CHARS))


def show_user_code(code: str) -> str:
    """Return a code as people read it: ABCD-EFGH."""
    return f"{code[:4]}-{code[4:]}"


def read_user_code(typed: str) -> str | None:
    """Return the code that a person typed, in whatever case and with whatever between the letters; None for no code."""
    letters = "".join(one for one in typed.upper() if one.isalnum())
    is_code = len(letters) == USER_CODE_CHARS and set(letters) <= set(LETTERS)
    return letters if is_code else None


def digest_of(kind: str, code: str) -> str:
    """Return what is kept of a code or an address: HMAC-SHA256 with a key made of the hub's secret. kind: of it."""
    return salted_hmac(f"{_SALT}.{kind}", code, algorithm="sha256").hexdigest()


def networks_of(address: str) -> tuple[str, str]:
    """Return the network of one client, and the wider block that one party may have, of an address as text."""
    read = ipaddress.ip_address(address)
    client, block = (
        ipaddress.ip_network((read, bits[read.version]), strict=False) for bits in (CLIENT_BITS, BLOCK_BITS)
    )
    return str(client.network_address), str(block.network_address)


@dataclass(frozen=True)
class Codes:
    """What an app is given: its own code, the one for the person, and the request."""

    device_code: str
    user_code: str
    request: ConnectionRequest


@transaction.atomic
def connection_request(*, name: str, permission: Permission, address: str, clock: Clock = SYSTEM_CLOCK) -> Codes:
    """Note that an app asks for a key, and return its codes, which are kept nowhere. permission: read or write.

    address: of the client, an IP address. Raises ThrottledError where this client, its block of addresses, or all
    together ask too often.
    """
    now, (client, block) = utcnow(clock), networks_of(address)
    digests = {"address_digest": digest_of("address", client), "block_digest": digest_of("block", block)}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [COUNT_LOCK])
    make_room(ConnectionRequest.objects.filter(created_at__gt=now - LIFETIME), **digests)
    device_code, user_code = secrets.token_urlsafe(32), new_user_code()
    request = ConnectionRequest.objects.create(
        name=name,
        permission=permission,
        device_digest=digest_of("device", device_code),
        user_digest=digest_of("user", user_code),
        **digests,
        created_at=now,
        expires_at=now + LIFETIME,
        interval=INTERVAL_SECONDS,
    )
    return Codes(device_code, user_code, request)


def make_room(lately: QuerySet[ConnectionRequest], *, address_digest: str, block_digest: str) -> None:
    """Have room for one more request of a client. Raises ThrottledError where there is none.

    Where all together have asked too often, the block with the most requests loses its oldest: whoever asks from many
    addresses takes the room from themselves, and a client that has asked for nothing yet still finds some. What a
    person has confirmed stays.
    """
    throttled = ThrottledError(
        "Too many requests for a key. Try again later.", retry_after=int(LIFETIME.total_seconds())
    )
    of_block = lately.filter(block_digest=block_digest).count()
    if lately.filter(address_digest=address_digest).count() >= MAX_PER_CLIENT or of_block >= MAX_PER_BLOCK:
        raise throttled
    if lately.count() < MAX_IN_ALL:
        return
    lost = lately.exclude(state=ConnectionState.CONFIRMED)
    largest = lost.values("block_digest").annotate(asked=Count("pk")).order_by("-asked").first()
    if largest is None or largest["asked"] <= of_block + 1:
        raise throttled
    oldest = lost.filter(block_digest=largest["block_digest"]).order_by("pk").values("pk")[:1]
    ConnectionRequest.objects.filter(pk__in=oldest).delete()


def connection_find(typed: str, *, clock: Clock = SYSTEM_CLOCK) -> ConnectionRequest:
    """Return the request that waits under the code that a person typed. Raises NotFoundError, whatever the reason."""
    code = read_user_code(typed)
    waiting = ConnectionRequest.objects.filter(state=ConnectionState.WAITING, expires_at__gt=utcnow(clock))
    found = waiting.filter(user_digest=digest_of("user", code)).first() if code else None
    if found is None:
        raise NotFoundError("No app waits under this code.")
    return found


@transaction.atomic
def connection_answer(
    *, uuid: UUID, user_id: str, permission: Permission | None, clock: Clock = SYSTEM_CLOCK
) -> ConnectionRequest:
    """Confirm a request with a permission that is no more than what it asks for, or refuse it with None.

    Raises NotFoundError for one that does not wait any more, InvalidInputError for more than was asked for.
    """
    waiting = ConnectionRequest.objects.select_for_update().filter(
        uuid=uuid, state=ConnectionState.WAITING, expires_at__gt=utcnow(clock)
    )
    request = waiting.first()
    if request is None:
        raise NotFoundError("This app does not wait any more.")
    if permission is None:
        request.state = ConnectionState.REFUSED
    else:
        if PERMISSION_ORDER.index(permission) > PERMISSION_ORDER.index(Permission(request.permission)):
            raise InvalidInputError("An app cannot get more than it asks for.", attr="permission")
        hold_users([user_id])
        request.state, request.user_id, request.permission = ConnectionState.CONFIRMED, user_id, permission
    request.save(update_fields=["state", "user_id", "permission"])
    return request


def connection_fetch(*, device_code: str, clock: Clock = SYSTEM_CLOCK) -> tuple[ApiKey, str]:
    """Make the key of a confirmed request, and return it with its secret: once, to who has the code of the app.

    Raises InvalidInputError with a code of RFC 8628: authorization_pending, slow_down, access_denied, expired_token.
    """
    with transaction.atomic():
        fetched = fetch(device_code, clock)
    if isinstance(fetched, InvalidInputError):
        raise fetched
    return fetched


def fetch(device_code: str, clock: Clock) -> tuple[ApiKey, str] | InvalidInputError:
    """Return the key and its secret, or why there is none; that the app asked is noted in both cases."""
    now = utcnow(clock)
    found = ConnectionRequest.objects.select_for_update().filter(device_digest=digest_of("device", device_code))
    request = found.first()
    if request is None or request.expires_at <= now or request.state == ConnectionState.FETCHED:
        return refusal("This code is over, or was used. Ask for another one.", code="expired_token")
    if request.state == ConnectionState.REFUSED:
        return refusal("The person has refused.", code="access_denied")
    is_early = request.asked_at is not None and now - request.asked_at < timedelta(seconds=request.interval)
    request.asked_at = now
    if is_early:
        request.interval = min(request.interval + SLOWER_SECONDS, MAX_INTERVAL_SECONDS)
        request.save(update_fields=["asked_at", "interval"])
        return refusal(f"Ask every {request.interval} seconds.", code="slow_down")
    if request.state == ConnectionState.WAITING:
        request.save(update_fields=["asked_at"])
        return refusal("The person has not answered yet.", code="authorization_pending")
    user_id, actor = request.user_id, f"{PERSON}{request.user_id}"
    name, permission = unused_name(request.name), Permission(request.permission)
    key, secret = key_create(name=name, scope=Scope(user_id), permission=permission, actor=actor, clock=clock)
    request.state, request.user_id = ConnectionState.FETCHED, ""
    request.save(update_fields=["state", "user_id", "asked_at"])
    record(
        actor_kind="person", actor=actor, action="app.connected", object_type="core.apikey", object_id=str(key.pk),
        scope=Scope(user_id), detail={"name": key.name},
    )  # fmt: skip
    return key, secret


def refusal(detail: str, *, code: str) -> InvalidInputError:
    """Return why an app gets no key now, with a code of RFC 8628."""
    return InvalidInputError(detail, code=code, attr="device_code")


def connections_trim(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Delete the requests that are over. Return how many."""
    return ConnectionRequest.objects.filter(expires_at__lte=utcnow(clock)).delete()[0]
