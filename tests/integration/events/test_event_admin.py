import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from apps.events import services
from apps.events.models import Delivery, Event
from tests.integration.events import support
from tests.integration.events.support import emit

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = "admin:events_event_changelist"
DELIVERIES = "admin:events_delivery_changelist"


@pytest.fixture
def operator(client):
    client.force_login(User.objects.create_superuser("operator"))
    return client


def viewer(client, *permissions: str):
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return client


def page(client, name: str, /, *args, **query) -> str:
    response = client.get(reverse(name, args=args), query)
    assert response.status_code == 200
    return response.content.decode()


def redeliver(client, name: str, ids):
    data = {"action": "redeliver", "_selected_action": list(ids)}
    return client.post(reverse(name), data, follow=True)


def test_list_of_events_shows_name_id_and_state(operator, table):
    table(support.RECORD)
    [event_id] = emit()
    text = page(operator, EVENTS)
    assert "test:outbox:happened" in text
    assert str(event_id) in text
    assert "Pending" in text


def test_an_event_is_found_by_its_id(operator, table):
    first, second = emit(2)
    text = page(operator, EVENTS, q=str(first))
    assert str(first) in text
    assert str(second) not in text


def test_search_for_what_is_no_id_finds_nothing_and_breaks_nothing(operator, table):
    [event_id] = emit()
    assert str(event_id) not in page(operator, EVENTS, q="nonsense")


def test_page_of_event_shows_its_payload_escaped_and_its_deliveries(operator, table):
    table(support.RECORD)
    emit(note="<b>bold</b>")
    text = page(operator, "admin:events_event_change", Event.objects.get().pk)
    assert "&quot;note&quot;: &quot;&lt;b&gt;bold&lt;/b&gt;&quot;" in text
    assert support.RECORD in text


def test_the_page_of_a_delivery_shows_its_error(operator, table):
    table(support.FAIL)
    emit()
    services.drain()
    text = page(operator, "admin:events_delivery_change", Delivery.objects.get().pk)
    assert "the disk is full" in text


def test_deliveries_are_filtered_by_status(operator, table):
    table(support.FAIL, support.RECORD)
    emit()
    services.drain()
    text = page(operator, DELIVERIES, status__exact="delivered")
    delivered, pending = Delivery.objects.get(status="delivered"), Delivery.objects.get(status="pending")
    assert f"/{delivered.pk}/change/" in text
    assert f"/{pending.pk}/change/" not in text


def test_deliveries_are_filtered_by_event_name(operator, table):
    table(support.RECORD)
    emit()
    pk = Delivery.objects.get().pk
    assert f"/{pk}/change/" in page(operator, DELIVERIES, name="test:outbox:happened")
    assert f"/{pk}/change/" not in page(operator, DELIVERIES, name="test:outbox:followed")


def test_nothing_can_be_added_changed_or_deleted_by_hand(operator, table):
    table(support.RECORD)
    emit()
    for name, pk in (("event", Event.objects.get().pk), ("delivery", Delivery.objects.get().pk)):
        assert operator.post(reverse(f"admin:events_{name}_add")).status_code == 403
        assert operator.post(reverse(f"admin:events_{name}_change", args=[pk])).status_code == 403
        assert operator.post(reverse(f"admin:events_{name}_delete", args=[pk])).status_code == 403


def test_redeliver_makes_selected_deliveries_pending_and_says_so(operator, table):
    table(support.RECORD)
    emit(3)
    services.drain()
    chosen = list(Delivery.objects.values_list("pk", flat=True)[:2])
    response = redeliver(operator, DELIVERIES, chosen)
    assert "2 deliveries are queued again." in response.content.decode()
    assert set(Delivery.objects.pending().values_list("pk", flat=True)) == set(chosen)


def test_redeliver_of_event_reaches_all_its_subscribers(operator, table):
    table(support.RECORD, support.RECORD_TOO)
    emit()
    services.drain()
    redeliver(operator, EVENTS, [Event.objects.get().pk])
    assert Delivery.objects.pending().count() == 2


def test_redeliver_of_event_that_nobody_hears_says_so(operator, table):
    emit()
    response = redeliver(operator, EVENTS, [Event.objects.get().pk])
    assert "have no subscribers" in response.content.decode()


def test_who_may_only_look_cannot_redeliver(client, table):
    table(support.RECORD)
    emit()
    services.drain()
    redeliver(viewer(client, "view_delivery"), DELIVERIES, [Delivery.objects.get().pk])
    assert not Delivery.objects.pending().exists()


def test_who_has_the_permission_can_redeliver(client, table):
    table(support.RECORD)
    emit()
    services.drain()
    redeliver(viewer(client, "view_delivery", "redeliver_delivery"), DELIVERIES, [Delivery.objects.get().pk])
    assert Delivery.objects.pending().exists()


def test_who_is_not_staff_sees_nothing(client, table):
    client.force_login(User.objects.create_user("visitor"))
    assert client.get(reverse(EVENTS)).status_code == 302


def test_list_takes_same_number_of_queries_for_more_rows(operator, table, django_assert_max_num_queries):
    table(support.RECORD, support.RECORD_TOO)
    emit(30)
    page(operator, EVENTS)
    for name in (EVENTS, DELIVERIES):
        with django_assert_max_num_queries(10):
            page(operator, name)
