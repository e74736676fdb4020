"""Events and their deliveries in the admin: to look at, and to deliver again."""

import json
from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action, display

from apps.events import services
from apps.events.models import Delivery, Event
from apps.events.subscribers import all_event_names, all_subscribers

STATUS_COLOURS = {"Pending": "info", "Delivered": "success", "Failed": "danger"}
NEVER = "—"


class _Choice(admin.SimpleListFilter):
    """A filter over the values that code knows, so that no page scans the table for them."""

    field = ""
    values: Any = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(value, value) for value in type(self).values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.field: self.value()}) if self.value() else queryset


class EventNameFilter(_Choice):
    title, parameter_name, field, values = "name", "name", "name", staticmethod(all_event_names)


class DeliveryNameFilter(_Choice):
    title, parameter_name, field, values = "event name", "name", "event__name", staticmethod(all_event_names)


class SubscriberFilter(_Choice):
    title, parameter_name, field = "subscriber", "subscriber", "subscriber"
    values = staticmethod(all_subscribers)


class ReadOnly:
    """Nobody adds, changes or deletes by hand: `services` write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_redeliver_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("events.redeliver_delivery")


class DeliveryInline(ReadOnly, TabularInline):
    model = Delivery
    fields = ["short_subscriber", "status_badge", "attempts", "next_try", "delivered_at", "last_error"]
    readonly_fields = fields
    verbose_name_plural = "deliveries"
    extra = 0
    show_change_link = True

    @display(description="Subscriber")
    def short_subscriber(self, delivery: Delivery) -> str:
        return delivery.subscriber

    @display(description="Status", label=STATUS_COLOURS)
    def status_badge(self, delivery: Delivery) -> str:
        return delivery.get_status_display()

    @display(description="Next try", empty_value=NEVER)
    def next_try(self, delivery: Delivery) -> Any:
        return delivery.next_attempt_at if delivery.status == Delivery.Status.PENDING else None


@admin.register(Event)
class EventAdmin(ReadOnly, ModelAdmin):
    """What happened, newest first."""

    list_display = ["name", "uuid", "state", "created_at", "delivered_at"]
    list_filter = [EventNameFilter, ("delivered_at", admin.EmptyFieldListFilter), "created_at"]
    list_fullwidth = True
    search_fields = ["uuid__exact"]
    search_help_text = "The whole id of an event"
    show_full_result_count = False
    ordering = ["-id"]
    actions = ["redeliver"]
    fields = ["name", "uuid", ("created_at", "delivered_at"), "content"]
    readonly_fields = ["name", "uuid", "created_at", "delivered_at", "content"]
    inlines = [DeliveryInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        events: QuerySet[Event] = super().get_queryset(request)
        return events.prefetch_related("deliveries")

    @display(description="State", label=STATUS_COLOURS)
    def state(self, event: Event) -> str:
        states = {delivery.status for delivery in event.deliveries.all()}
        worst = next((status for status in ("failed", "pending") if status in states), "delivered")
        return Delivery.Status(worst).label

    @display(description="Payload")
    def content(self, event: Event) -> SafeString:
        return pretty_json(event.payload)

    @action(description="Deliver the selected events again", icon="replay", permissions=["redeliver"])
    def redeliver(self, request: HttpRequest, queryset: QuerySet[Event]) -> None:
        ids = Delivery.objects.filter(event__in=queryset.values("pk")).values_list("id", flat=True)
        report_redelivery(request, services.redeliver(delivery_ids=list(ids)))


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly, ModelAdmin):
    """What became of each event at each subscriber, newest first; failed ones are the dead letters."""

    list_display = [
        "event_name", "subscriber", "status_badge", "attempts", "created_at", "next_try", "last_error",
    ]  # fmt: skip
    list_filter = ["status", DeliveryNameFilter, SubscriberFilter]
    list_fullwidth = True
    list_select_related = ["event"]
    search_fields = ["event__uuid__exact"]
    search_help_text = "The whole id of an event"
    show_full_result_count = False
    ordering = ["-id"]
    actions = ["redeliver"]
    fields = [
        "event_link", "subscriber", ("status_badge", "attempts"), ("created_at", "delivered_at", "next_try"),
        "last_error", "content",
    ]  # fmt: skip
    readonly_fields = [
        "event_link", "subscriber", "status_badge", "attempts", "created_at", "delivered_at", "next_try",
        "last_error", "content",
    ]  # fmt: skip

    @display(description="Event", ordering="event__name")
    def event_name(self, delivery: Delivery) -> str:
        return delivery.event.name

    @display(description="Event")
    def event_link(self, delivery: Delivery) -> SafeString:
        url = reverse("admin:events_event_change", args=[delivery.event_id])
        return format_html('<a href="{}">{} {}</a>', url, delivery.event.name, delivery.event.uuid)

    @display(description="Status", ordering="status", label=STATUS_COLOURS)
    def status_badge(self, delivery: Delivery) -> str:
        return delivery.get_status_display()

    @display(description="Emitted at", ordering="id")
    def created_at(self, delivery: Delivery) -> Any:
        return delivery.event.created_at

    @display(description="Next try", ordering="next_attempt_at", empty_value=NEVER)
    def next_try(self, delivery: Delivery) -> Any:
        return delivery.next_attempt_at if delivery.status == Delivery.Status.PENDING else None

    @display(description="Payload")
    def content(self, delivery: Delivery) -> SafeString:
        return pretty_json(delivery.event.payload)

    @action(description="Redeliver the selected deliveries", icon="replay", permissions=["redeliver"])
    def redeliver(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        ids = list(queryset.values_list("id", flat=True))
        report_redelivery(request, services.redeliver(delivery_ids=ids))


def pretty_json(document: object) -> SafeString:
    """JSON to read. Payloads carry identifiers, never the content of a memory, so nothing is left out."""
    text = json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True)
    return format_html('<pre class="font-mono text-xs whitespace-pre-wrap">{}</pre>', text)


def report_redelivery(request: HttpRequest, count: int) -> None:
    """Say what an action did."""
    if count:
        text = ngettext("%d delivery is on its way again.", "%d deliveries are on their way again.", count)
        messages.success(request, text % count)
    else:
        messages.warning(request, "Nobody subscribes to these events: there was nothing to deliver.")
