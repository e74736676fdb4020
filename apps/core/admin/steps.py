"""Steps on admin pages: dialogs that ask first, buttons, forms that save by a service, and queues for a person."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.db.models import Model, QuerySet, TextChoices
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from unfold.contrib.filters.admin import DropdownFilter
from unfold.dataclasses import ActionDialog
from unfold.decorators import action

from apps.core.admin.kit import apply_on_page
from apps.core.words import Counted, Words

ALL = "all"


def make_dialog(title: Words, description: Words, button: Words, form: Any = None) -> ActionDialog:
    """Return a dialog that asks for confirmation. form: what else it shows or asks for."""
    return ActionDialog(title=title, description=description, form_class=form, form_submit_text=button)


def step_action(
    name: str,
    dialog: ActionDialog,
    service: Callable[..., Any],
    *,
    said: Counted,
    permission: str,
    icon: str | None = None,
) -> Any:
    """Return the button of an object's page that applies a service after a dialog. name: of the method."""

    def take_step(self: Any, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return apply_on_page(self, request, object_id, service, said=said)

    take_step.__name__ = name  # the theme makes the address and checks permissions by it
    words, permissions = dialog["form_submit_text"], ["view", permission]
    return action(description=words, icon=icon, permissions=permissions, dialog=dialog)(take_step)


def copy_columns(saved: Model, obj: Any) -> None:
    """Give the object of a form what a service has saved."""
    for field in saved._meta.concrete_fields:
        setattr(obj, field.attname, getattr(saved, field.attname))


class OneButton:
    """An admin whose forms have one button that saves: the next steps are on the page after it."""

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().render_change_form(request, context, *args, **kwargs)  # type: ignore[misc]


class OpenFirstFilter(DropdownFilter):  # type: ignore[misc]
    """Filter by state: what waits for a person unless another state is chosen.

    states: with one that is `open`. all_words: the name of the choice of all of them.
    """

    parameter_name = "state"
    all_option = None
    states: ClassVar[type[TextChoices]]
    all_words: ClassVar[Words]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [*((str(state.value), gettext(state.label)) for state in self.states), (ALL, str(self.all_words))]

    def value(self) -> str:
        chosen = super().value()
        return chosen if chosen in {ALL, *self.states.values} else "open"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() == ALL else queryset.filter(state=self.value())
