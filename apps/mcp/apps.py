from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class McpConfig(AppConfig):
    name = "apps.mcp"
    label = "mcp"
    verbose_name = _("MCP")
