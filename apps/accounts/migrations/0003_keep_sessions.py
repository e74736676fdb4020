"""Sessions that were begun with another backend go on with that of accounts, so that an upgrade signs no one out."""

from django.conf import settings
from django.db import migrations
from django.utils import timezone

BACKEND_KEY, OLD, NEW = (
    "_auth_user_backend",
    "django.contrib.auth.backends.ModelBackend",
    "apps.accounts.backend.AccountBackend",
)


def keep_sessions(apps, schema_editor):
    """Change the name of the backend in sessions that have not expired; what cannot be read is left."""
    if NEW not in settings.AUTHENTICATION_BACKENDS:
        return
    from django.contrib.sessions.backends.db import SessionStore

    rows = apps.get_model("sessions", "Session").objects.filter(expire_date__gt=timezone.now())
    store = SessionStore()
    for row in rows.iterator():
        data = store.decode(row.session_data)
        if data.get(BACKEND_KEY) == OLD:
            row.session_data = store.encode({**data, BACKEND_KEY: NEW})
            row.save(update_fields=["session_data"])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_sign_in"), ("sessions", "0001_initial")]

    operations = [migrations.RunPython(keep_sessions, migrations.RunPython.noop)]
