"""The page *Ask*."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.ask.page import ask_page, ask_question
from apps.cockpit.pages import Page

PAGES: tuple[Page, ...] = (
    Page(
        name="ask",
        path="ask/",
        view=ask_page,
        permissions=("semantic.view_memory",),
        title=_("Ask"),
        icon="quiz",
        words=_("search question recall debug explain missing why evaluate"),
    ),
    Page(name="ask_question", path="ask/question/", view=ask_question, permissions=("semantic.view_memory",)),
)
