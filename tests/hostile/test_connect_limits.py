"""Nobody keeps others from connecting an app, however many addresses they have."""

import ipaddress
from itertools import islice
from typing import Any

import pytest

from apps.core.domain.errors import ThrottledError
from apps.core.domain.scope import Permission
from apps.people import connecting
from apps.people.connecting import MAX_IN_ALL, MAX_PER_BLOCK, MAX_PER_CLIENT, networks_of
from apps.people.models import ConnectionRequest
from apps.people.services import connection_answer, connection_request
from tests.api import Api
from tests.threads import outcomes_at_once

pytestmark = pytest.mark.django_db


def asks(address: str) -> bool:
    """Whether an app at an address may ask for a key."""
    try:
        connection_request(name="lamp", permission=Permission.READ, address=address)
    except ThrottledError:
        return False
    return True


def accepted(addresses: Any) -> int:
    """Return how many of some addresses may ask."""
    return sum(asks(str(address)) for address in addresses)


def test_addresses_of_one_network_are_one_client() -> None:
    network = ipaddress.ip_network("2001:db8:1:1::/64")
    assert accepted(islice(network, MAX_PER_CLIENT + 20)) == MAX_PER_CLIENT
    assert asks("2001:db8:1:2::1")
    assert not asks("2001:db8:1:1:ffff:ffff:ffff:ffff")


@pytest.mark.parametrize("block", ["2001:db8:1::/48", "198.51.100.0/24"])
def test_networks_of_one_block_have_a_small_share(block: str) -> None:
    bits = 64 if ":" in block else 32
    clients = ipaddress.ip_network(block).subnets(new_prefix=bits)
    assert accepted(one.network_address for one in islice(clients, 100)) == MAX_PER_BLOCK
    assert MAX_PER_BLOCK * 10 < MAX_IN_ALL
    assert asks("192.0.2.7")


@pytest.fixture
def small_hub(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many requests a hub has room for in which there is not much."""
    monkeypatch.setattr(connecting, "MAX_IN_ALL", 60)
    return 60


def test_many_blocks_take_the_room_from_themselves(small_hub: int) -> None:
    blocks = [f"2001:db8:{n:x}::1" for n in range(12)]
    assert accepted(blocks * 5) == small_hub
    assert accepted(f"192.0.{n}.7" for n in range(20)) == 20
    honest = set(ConnectionRequest.objects.order_by("-pk").values_list("pk", flat=True)[:20])
    accepted(blocks * 3)
    assert honest <= set(ConnectionRequest.objects.values_list("pk", flat=True))
    assert ConnectionRequest.objects.count() == small_hub


def test_what_a_person_confirmed_is_lost_to_nobody(small_hub: int) -> None:
    asks("2001:db8::1")
    confirmed = ConnectionRequest.objects.get()
    connection_answer(uuid=confirmed.uuid, user_id="ana", permission=Permission.READ)
    accepted(f"2001:db8:0:{n:x}::1" for n in range(small_hub))
    assert accepted(f"192.0.{n}.7" for n in range(small_hub)) > small_hub // 2
    assert ConnectionRequest.objects.filter(pk=confirmed.pk).exists()
    assert ConnectionRequest.objects.count() == small_hub


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_are_counted_one_by_one() -> None:
    accepted(["192.0.2.7"] * (MAX_PER_CLIENT - 2))
    found = outcomes_at_once(*[lambda: asks("192.0.2.7")] * 8)
    assert sorted(found) == [False] * 6 + [True] * 2


def test_forwarded_header_makes_no_other_client() -> None:
    app = Api()
    statuses = []
    for number in range(MAX_PER_CLIENT + 1):
        app.client.defaults["HTTP_X_FORWARDED_FOR"] = f"192.0.2.{number}"
        statuses.append(app.post("/api/connect", {"name": "lamp"}).status_code)
    assert statuses == [200] * MAX_PER_CLIENT + [429]


def test_mapped_addresses_are_those_of_ipv4() -> None:
    app = Api()
    for number, expected in ((7, 200), (8, 200), (7, 429)):
        for _ in range(MAX_PER_CLIENT if expected == 200 else 1):
            app.client.defaults["REMOTE_ADDR"] = f"::ffff:192.0.2.{number}"
            answer = app.post("/api/connect", {"name": "lamp"})
        assert answer.status_code == expected
    assert networks_of("fe80::1%eth0") == ("fe80::", "fe80::")
