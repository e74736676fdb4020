"""Addresses of `core`: keys, health, metrics, the OpenAPI document."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from apps.core.rest import views

urlpatterns = [
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", views.prometheus, name="metrics"),
    path("api/keys", views.KeysView.as_view(), name="keys"),
    path("api/keys/<uuid:uuid>", views.KeyView.as_view(), name="key"),
    path(
        "api/schema",
        SpectacularAPIView.as_view(authentication_classes=[], permission_classes=[]),
        name="schema",
    ),
    path(
        "api/docs",
        SpectacularSwaggerView.as_view(url_name="schema", authentication_classes=[], permission_classes=[]),
        name="docs",
    ),
]
