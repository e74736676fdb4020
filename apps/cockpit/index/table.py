"""Addresses of the page of the index."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.index import views
from apps.cockpit.pages import Page

# The ids of all users are on it.
LOOK = ("semantic.view_memory", "llm.view_embeddingspace")
ACT = (*LOOK, views.CHANGE)

PAGES = (
    Page(
        name="index",
        path="index/",
        view=views.index,
        permissions=LOOK,
        title=_("Index"),
        icon="hub",
        words=_("vectors graph hnsw snapshot recall embedding search"),
    ),
    Page(name="index_live", path="index/live/", view=views.live_fragment, permissions=LOOK),
    Page(name="index_build", path="index/build/", view=views.build, permissions=ACT),
    Page(name="index_verify", path="index/verify/", view=views.verify, permissions=ACT),
)
