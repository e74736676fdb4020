from django.urls import path

from apps.mcp.rest.views import McpView

urlpatterns = [
    path("mcp", McpView.as_view(), name="mcp"),
    path("mcp/p/<str:project>", McpView.as_view(), name="mcp-project"),
]
