"""Every address of the hub."""

from django.contrib import admin
from django.urls import include, path

from apps.accounts.admin.own import admin_login, admin_password_change, too_many_requests
from apps.core.rest import errors
from apps.semantic.admin.edit_rehearsal import rehearse_unsaved
from apps.semantic.admin.rehearsal import rehearse_rule

# One page to sign in, with limits and a second factor, for the admin too.
admin.site.login = admin_login  # type: ignore[method-assign]
admin.site.password_change = admin_password_change  # type: ignore[method-assign,assignment]

urlpatterns = [
    path("", include("apps.webui.urls")),
    path("", include("apps.core.rest.urls")),
    path("api/llm/", include("apps.llm.rest.urls")),
    path("api/", include("apps.rules.rest.urls")),
    path("api/", include("apps.semantic.rest.rehearsal")),
    path("api/episodic/", include("apps.episodic.rest.urls")),
    path("api/", include("apps.people.rest.urls")),
    path("api/semantic/", include("apps.semantic.rest.urls")),
    path("api/memory/", include("apps.notes.rest.urls")),
    path("api/auto-memory/", include("apps.notes.rest.auto_urls")),
    path("api/", include("apps.context.rest.urls")),
    path("api/sync/", include("apps.sync.rest.urls")),
    path("api/", include("apps.store.rest.urls")),
    path("", include("apps.mcp.rest.urls")),
    path("", include("apps.oauth.rest.urls")),
    path("accounts/", include("apps.accounts.admin.urls")),
    path("admin/rules/mergerule/<int:pk>/rehearse/", admin.site.admin_view(rehearse_rule), name="rehearse_rule"),
    path("admin/rules/mergerule/rehearsal/", admin.site.admin_view(rehearse_unsaved), name="rehearse_new_rule"),
    path("admin/rules/mergerule/<int:pk>/rehearsal/", admin.site.admin_view(rehearse_unsaved), name="rehearse_edits"),
    path("admin/", include("apps.cockpit.admin.urls")),
    path("admin/", admin.site.urls),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler429 = too_many_requests
handler500 = errors.server_error
