"""The addresses by which apps sign in."""

from django.urls import path

from apps.oauth.rest import metadata, views

RESOURCE = ".well-known/oauth-protected-resource"

urlpatterns = [
    path(".well-known/oauth-authorization-server", metadata.authorization_server, name="oauth-server"),
    path(RESOURCE, metadata.protected_resource, name="oauth-resource"),
    path(f"{RESOURCE}/mcp", metadata.protected_resource, name="oauth-resource-mcp"),
    path(f"{RESOURCE}/mcp/p/<str:project>", metadata.protected_resource, name="oauth-resource-project"),
    path("oauth/token", views.TokenView.as_view(), name="oauth-token"),
    path("oauth/revoke", views.RevokeView.as_view(), name="oauth-revoke"),
    path("oauth/register", views.RegisterView.as_view(), name="oauth-register"),
]
