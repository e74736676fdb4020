from django.db import migrations

NAME = "important events"


def prepare(apps, schema_editor):
    """A global policy by which nothing becomes a memory until an operator switches it on."""
    apps.get_model("semantic", "RoutingPolicy").objects.get_or_create(
        name=NAME, defaults={"min_importance": 0.8, "enabled": False}
    )


class Migration(migrations.Migration):
    dependencies = [("semantic", "0004_bridge")]
    operations = [migrations.RunPython(prepare, migrations.RunPython.noop)]
