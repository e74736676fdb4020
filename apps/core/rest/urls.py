"""Addresses of `core`: keys, health, metrics, the index of the API and its OpenAPI document."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from apps.core.rest import export, index, keys, memberships, views
from apps.core.rest.developer import DeveloperView

urlpatterns = [
    path("api/", index.api_index, name="api"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", views.prometheus, name="metrics"),
    path("api/export", export.ExportView.as_view(), name="export"),
    path("api/keys", keys.KeysView.as_view(), name="keys"),
    path("api/keys/<uuid:uuid>", keys.KeyView.as_view(), name="key"),
    path("api/keys/<uuid:uuid>/rotate", keys.RotateView.as_view(), name="key-rotate"),
    path("api/memberships", memberships.MembershipsView.as_view(), name="memberships"),
    path("api/memberships/<uuid:uuid>", memberships.MembershipView.as_view(), name="membership"),
    path(
        "api/schema",
        SpectacularAPIView.as_view(authentication_classes=[], permission_classes=[]),
        name="schema",
    ),
    path(
        "api/docs",
        DeveloperView.as_view(url_name="schema", authentication_classes=[], permission_classes=[]),
        name="docs",
    ),
]
