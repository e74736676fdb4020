"""Events and their deliveries in the admin: to inspect, and to deliver again."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin, TabularInline
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import NOTHING, ReadOnly, after_dialog, badge, excerpt, found_or_404, link, moment, pretty_json
from apps.events import services
from apps.events.models import Delivery, Event
from apps.events.subscribers import all_event_names, all_subscribers

STATUS_COLOURS = {"Pending": "info", "Delivered": "success", "Failed": "danger"}
REDELIVER_DIALOG = ActionDialog(
    title="Deliver again?",
    description="Subscribers recognise an event by its id: one that has processed it already does nothing.",
    form_class=None,
    form_submit_text="Deliver again",
)


class KnownValueFilter(admin.SimpleListFilter):
    """Filter by values that the code knows, so that no page scans the table for them."""

    field = ""
    values: Any = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(value, value) for value in type(self).values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.field: self.value()}) if self.value() else queryset


class EventNameFilter(KnownValueFilter):
    title, parameter_name, field, values = "name", "name", "name", staticmethod(all_event_names)


class DeliveryNameFilter(KnownValueFilter):
    title, parameter_name, field, values = "event name", "name", "event__name", staticmethod(all_event_names)


class SubscriberFilter(KnownValueFilter):
    title, parameter_name, field = "subscriber", "subscriber", "subscriber"
    values = staticmethod(all_subscribers)


class RedeliverPermission:
    """The permission to deliver again."""

    def has_redeliver_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("events.redeliver_delivery")


class DeliveryColumns:
    """Columns of a delivery, for lists and pages."""

    @display(description="Status", ordering="status", label=STATUS_COLOURS)
    def status_badge(self, delivery: Delivery) -> str:
        return delivery.get_status_display()

    @display(description="Status")
    def status_label(self, delivery: Delivery) -> str:
        return badge(delivery.get_status_display(), STATUS_COLOURS[delivery.get_status_display()])

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
class EventAdmin(RedeliverPermission, ReadOnly, ModelAdmin):
    """Emitted events, newest first."""

    list_display = ["name", "uuid", "state", "created", "delivered"]
    list_filter = [EventNameFilter, ("delivered_at", admin.EmptyFieldListFilter), "created_at"]
    list_fullwidth = True
    search_fields = ["uuid__exact"]
    search_help_text = "The whole id of an event"
    ordering = ["-id"]
    actions = ["redeliver"]
    actions_detail = ["redeliver_this"]
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
        return badge(worst_status(event), STATUS_COLOURS[worst_status(event)])

    @display(description="Emitted at", ordering="id")
    def created(self, event: Event) -> str:
        return moment(event.created_at)

    @display(description="Delivered at", ordering="delivered_at")
    def delivered(self, event: Event) -> str:
        return moment(event.delivered_at)

    @display(description="Payload")
    def content(self, event: Event) -> SafeString:
        # Payloads carry identifiers, never the content of a memory, so nothing is left out.
        return pretty_json(event.payload)

    @action(description="Deliver the selected events again", icon="replay", permissions=["redeliver"])
    def redeliver(self, request: HttpRequest, queryset: QuerySet[Event]) -> None:
        ids = Delivery.objects.filter(event__in=queryset.values("pk")).values_list("id", flat=True)
        report_redelivery(request, services.redeliver(delivery_ids=list(ids)))

    @action(description="Deliver again", icon="replay", permissions=["view", "redeliver"], dialog=REDELIVER_DIALOG)
    def redeliver_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        event = found_or_404(self.get_object(request, object_id))
        ids = Delivery.objects.filter(event=event).values_list("id", flat=True)
        report_redelivery(request, services.redeliver(delivery_ids=list(ids)))
        return after_dialog(request, reverse("admin:events_event_change", args=[object_id]))


@admin.register(Delivery)
class DeliveryAdmin(RedeliverPermission, ReadOnly, DeliveryColumns, ModelAdmin):
    """Deliveries to each subscriber, newest first."""

    list_display = [
        "event_name", "subscriber", "status_badge", "attempts", "emitted", "next_try", "error",
    ]  # fmt: skip
    list_filter = ["status", DeliveryNameFilter, SubscriberFilter]
    list_fullwidth = True
    list_select_related = ["event"]
    search_fields = ["event__uuid__exact"]
    search_help_text = "The whole id of an event"
    ordering = ["-id"]
    actions = ["redeliver"]
    actions_detail = ["redeliver_this"]
    fields = [
        "event_link", "subscriber", ("status_label", "attempts"), ("emitted", "delivered"), "next_try",
        "last_error", "content",
    ]  # fmt: skip
    readonly_fields = [
        "event_link", "subscriber", "status_label", "attempts", "emitted", "delivered", "next_try",
        "last_error", "content",
    ]  # fmt: skip

    @display(description="Last error")
    def error(self, delivery: Delivery) -> SafeString | str:
        return excerpt(delivery.last_error) if delivery.last_error else NOTHING

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

    @action(description="Deliver again", icon="replay", permissions=["view", "redeliver"], dialog=REDELIVER_DIALOG)
    def redeliver_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        delivery = found_or_404(self.get_object(request, object_id))
        report_redelivery(request, services.redeliver(delivery_ids=[delivery.pk]))
        return after_dialog(request, reverse("admin:events_delivery_change", args=[object_id]))


def worst_status(event: Event) -> str:
    """Return the label of the status that needs most attention among an event's deliveries."""
    states = {delivery.status for delivery in event.deliveries.all()}
    order = (Delivery.Status.FAILED, Delivery.Status.PENDING)
    return str(next((status.label for status in order if status in states), Delivery.Status.DELIVERED.label))


def report_redelivery(request: HttpRequest, count: int) -> None:
    """Show how many deliveries were queued again."""
    if count:
        text = ngettext("%d delivery is queued again.", "%d deliveries are queued again.", count)
        messages.success(request, text % count)
    else:
        messages.warning(request, "These events have no subscribers: nothing was queued.")
