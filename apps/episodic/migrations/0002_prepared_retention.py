from django.db import migrations

PREPARED_DAYS = 90


def prepare(apps, schema_editor):
    """A global policy that deletes nothing until an operator switches it on."""
    apps.get_model("episodic", "RetentionPolicy").objects.get_or_create(
        household_id="", defaults={"days": PREPARED_DAYS, "is_enabled": False}
    )


class Migration(migrations.Migration):
    dependencies = [("episodic", "0001_initial")]
    operations = [migrations.RunPython(prepare, migrations.RunPython.noop)]
