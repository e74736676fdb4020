"""Events and their deliveries in the admin: to look at, and to deliver again."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
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


class DeliveryColumns:
    """What lists and pages say about a delivery."""

    @display(description="Status", ordering="status", label=STATUS_COLOURS)
    def status_badge(self, delivery: Delivery) -> str:
        return delivery.get_status_display()

    @display(description="Status")
    def status_label(self, delivery: Delivery) -> str:
        return badge(delivery.get_status_display())

    @display(description="Emitted at", ordering="id")
    def emitted(self, delivery: Delivery) -> str:
        return moment(delivery.event.created_at)

    @display(description="Delivered at", ordering="delivered_at")
    def delivered(self, delivery: Delivery) -> str:
        return moment(delivery.delivered_at)

    @display(description="Next try", ordering="next_attempt_at")
    def next_try(self, delivery: Delivery) -> str:
        return moment(delivery.next_attempt_at if delivery.status == Delivery.Status.PENDING else None)


class DeliveryInline(ReadOnly, DeliveryColumns, TabularInline):
    model = Delivery
    fields = ["subscriber_link", "status_label", "attempts", "next_try", "delivered", "last_error"]
    readonly_fields = fields
    verbose_name_plural = "deliveries"
    extra = 0
    hide_title = True

    @display(description="Subscriber")
    def subscriber_link(self, delivery: Delivery) -> SafeString:
        return link("admin:events_delivery_change", delivery.pk, delivery.subscriber)


@admin.register(Event)
class EventAdmin(ReadOnly, ModelAdmin):
    """What happened, newest first."""

    list_display = ["name", "uuid", "state", "created", "delivered"]
    list_filter = [EventNameFilter, ("delivered_at", admin.EmptyFieldListFilter), "created_at"]
    list_fullwidth = True
    search_fields = ["uuid__exact"]
    search_help_text = "The whole id of an event"
    show_full_result_count = False
    ordering = ["-id"]
    actions = ["redeliver"]
    fields = ["name", "uuid", "state_label", ("created", "delivered"), "content"]
    readonly_fields = ["name", "uuid", "state_label", "created", "delivered", "content"]
    inlines = [DeliveryInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        events: QuerySet[Event] = super().get_queryset(request)
        return events.prefetch_related("deliveries")

    @display(description="State", label=STATUS_COLOURS)
    def state(self, event: Event) -> str:
        return worst_status(event)

    @display(description="State")
    def state_label(self, event: Event) -> str:
        return badge(worst_status(event))

    @display(description="Emitted at", ordering="id")
    def created(self, event: Event) -> str:
        return moment(event.created_at)

    @display(description="Delivered at", ordering="delivered_at")
    def delivered(self, event: Event) -> str:
        return moment(event.delivered_at)

    @display(description="Payload")
    def content(self, event: Event) -> SafeString:
        return pretty_json(event.payload)

    @action(description="Deliver the selected events again", icon="replay", permissions=["redeliver"])
    def redeliver(self, request: HttpRequest, queryset: QuerySet[Event]) -> None:
        ids = Delivery.objects.filter(event__in=queryset.values("pk")).values_list("id", flat=True)
        report_redelivery(request, services.redeliver(delivery_ids=list(ids)))


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly, DeliveryColumns, ModelAdmin):
    """What became of each event at each subscriber, newest first; failed ones are the dead letters."""

    list_display = [
        "event_name", "subscriber", "status_badge", "attempts", "emitted", "next_try", "last_error",
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
        "event_link", "subscriber", ("status_label", "attempts"), ("emitted", "delivered"), "next_try",
        "last_error", "content",
    ]  # fmt: skip
    readonly_fields = [
        "event_link", "subscriber", "status_label", "attempts", "emitted", "delivered", "next_try",
        "last_error", "content",
    ]  # fmt: skip

    @display(description="Event", ordering="event__name")
    def event_name(self, delivery: Delivery) -> str:
        return delivery.event.name

    @display(description="Event")
    def event_link(self, delivery: Delivery) -> SafeString:
        text = f"{delivery.event.name} {delivery.event.uuid}"
        return link("admin:events_event_change", delivery.event_id, text)

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


def worst_status(event: Event) -> str:
    """The label of the state that needs most attention among an event's deliveries."""
    states = {delivery.status for delivery in event.deliveries.all()}
    order = (Delivery.Status.FAILED, Delivery.Status.PENDING)
    return str(next((status.label for status in order if status in states), Delivery.Status.DELIVERED.label))


def badge(label: str) -> str:
    """The theme's badge, for pages; in lists its `display` decorator makes it."""
    return render_to_string("unfold/helpers/label.html", {"text": label, "type": STATUS_COLOURS[label]})


def moment(value: datetime | None) -> str:
    """A moment to the second, in the admin's time zone; a dash for none."""
    return date_format(localtime(value), "Y-m-d H:i:s") if value else NEVER


def link(name: str, pk: int, text: str) -> SafeString:
    """A link to the page of an object."""
    return format_html('<a class="text-primary-600 underline" href="{}">{}</a>', reverse(name, args=[pk]), text)


def report_redelivery(request: HttpRequest, count: int) -> None:
    """Say what an action did."""
    if count:
        text = ngettext("%d delivery is on its way again.", "%d deliveries are on their way again.", count)
        messages.success(request, text % count)
    else:
        messages.warning(request, "Nobody subscribes to these events: there was nothing to deliver.")
