"""Events and their deliveries in the admin: to inspect, and to deliver again."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    after_dialog,
    badge,
    badge_column,
    choice_badge,
    column,
    excerpt,
    found_or_404,
    link,
    moment,
    pretty_json,
)
from apps.core.admin.steps import make_dialog
from apps.events import services
from apps.events.models import Delivery, Event
from apps.events.subscribers import all_event_names, subscription_table

STATUS_COLOURS = {"pending": "info", "delivered": "success", "failed": "danger"}
REDELIVER_DIALOG = make_dialog(
    _("Deliver again?"),
    _("Subscribers recognise an event by its id: one that has already processed it does nothing."),
    _("Deliver again"),
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
    title, parameter_name, field, values = _("name"), "name", "name", staticmethod(all_event_names)


class DeliveryNameFilter(KnownValueFilter):
    title, parameter_name, field, values = _("event name"), "name", "event__name", staticmethod(all_event_names)


class SubscriberFilter(KnownValueFilter):
    title, parameter_name, field = _("subscriber"), "subscriber", "subscriber"

    @staticmethod
    def values() -> list[str]:
        """Return the dotted paths of all handlers."""
        return sorted({path for paths in subscription_table().values() for path in paths})


class RedeliverPermission:
    """The permission to deliver again."""

    def has_redeliver_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("events.redeliver_delivery")


class DeliveryColumns:
    """Columns of a delivery, for lists and pages."""

    status_badge = badge_column("status", _("Status"), STATUS_COLOURS)
    status_label = column(_("Status"), lambda delivery: choice_badge(delivery, "status", STATUS_COLOURS))

    emitted = column(_("Emitted at"), lambda delivery: moment(delivery.event.created_at), ordering="id")
    delivered = column(_("Delivered at"), lambda delivery: moment(delivery.delivered_at), ordering="delivered_at")

    @display(description=_("Next attempt"), ordering="next_attempt_at")
    def next_try(self, delivery: Delivery) -> str:
        return moment(delivery.next_attempt_at if delivery.status == Delivery.Status.PENDING else None)


class DeliveryInline(ReadOnly, DeliveryColumns, TabularInline):
    model = Delivery
    fields = ["subscriber_link", "status_label", "attempts", "next_try", "delivered", "last_error"]
    readonly_fields = fields
    verbose_name_plural = _("deliveries")
    extra = 0
    hide_title = True

    @display(description=_("Subscriber"))
    def subscriber_link(self, delivery: Delivery) -> SafeString:
        return link("admin:events_delivery_change", delivery.pk, delivery.subscriber)


@admin.register(Event)
class EventAdmin(RedeliverPermission, ReadOnly, ModelAdmin):
    """Emitted events, newest first."""

    list_display = ["name", "uuid", "state", "created", "delivered"]
    list_filter = [EventNameFilter, ("delivered_at", admin.EmptyFieldListFilter), "created_at"]
    list_fullwidth = True
    search_fields = ["uuid__exact"]
    search_help_text = _("The full id of an event")
    ordering = ["-id"]
    actions = ["redeliver"]
    actions_detail = ["redeliver_this"]
    fields = ["name", "uuid", "state_label", ("created", "delivered"), "content"]
    readonly_fields = ["name", "uuid", "state_label", "created", "delivered", "content"]
    inlines = [DeliveryInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        events: QuerySet[Event] = super().get_queryset(request)
        return events.prefetch_related("deliveries")

    state = column(
        _("State"),
        lambda event: (worst_status(event).value, gettext(worst_status(event).label)),
        colours=STATUS_COLOURS,
    )
    state_label = column(
        _("State"), lambda event: badge(gettext(worst_status(event).label), STATUS_COLOURS[worst_status(event)])
    )

    created = column(_("Emitted at"), lambda event: moment(event.created_at), ordering="id")
    delivered = column(_("Delivered at"), lambda event: moment(event.delivered_at), ordering="delivered_at")
    content = column(_("Payload"), lambda event: pretty_json(event.payload))

    @action(description=_("Deliver the selected events again"), icon="replay", permissions=["redeliver"])
    def redeliver(self, request: HttpRequest, queryset: QuerySet[Event]) -> None:
        ids = Delivery.objects.filter(event__in=queryset.values("pk")).values_list("id", flat=True)
        report_redelivery(request, services.redeliver(delivery_ids=list(ids)))

    @action(description=_("Deliver again"), icon="replay", permissions=["view", "redeliver"], dialog=REDELIVER_DIALOG)
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
    search_help_text = _("The full id of an event")
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

    error = column(_("Last error"), lambda delivery: excerpt(delivery.last_error) if delivery.last_error else NOTHING)
    event_name = column(_("Event"), lambda delivery: delivery.event.name, ordering="event__name")

    @display(description=_("Event"))
    def event_link(self, delivery: Delivery) -> SafeString:
        text = f"{delivery.event.name} {delivery.event.uuid}"
        return link("admin:events_event_change", delivery.event_id, text)

    content = column(_("Payload"), lambda delivery: pretty_json(delivery.event.payload))

    @action(description=_("Redeliver the selected deliveries"), icon="replay", permissions=["redeliver"])
    def redeliver(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        ids = list(queryset.values_list("id", flat=True))
        report_redelivery(request, services.redeliver(delivery_ids=ids))

    @action(description=_("Deliver again"), icon="replay", permissions=["view", "redeliver"], dialog=REDELIVER_DIALOG)
    def redeliver_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        delivery = found_or_404(self.get_object(request, object_id))
        report_redelivery(request, services.redeliver(delivery_ids=[delivery.pk]))
        return after_dialog(request, reverse("admin:events_delivery_change", args=[object_id]))


def worst_status(event: Event) -> Delivery.Status:
    """Return the status that needs most attention among an event's deliveries."""
    states = {delivery.status for delivery in event.deliveries.all()}
    order = (Delivery.Status.FAILED, Delivery.Status.PENDING)
    return next((status for status in order if status in states), Delivery.Status.DELIVERED)


def report_redelivery(request: HttpRequest, count: int) -> None:
    """Show how many deliveries were queued again."""
    if count:
        text = ngettext("%d delivery is queued again.", "%d deliveries are queued again.", count)
        messages.success(request, text % count)
    else:
        messages.warning(request, gettext("These events have no subscribers: nothing was queued."))
