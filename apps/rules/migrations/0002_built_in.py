"""Rows for the built-in rules, so that they can be seen and edited like any other."""

from django.db import migrations
from django.utils import timezone

from apps.rules.domain.documents.rule import BUILT_IN


def add_built_in(apps, schema_editor):
    apps.get_model("rules", "RegistryVersion").objects.get_or_create(pk=1)
    rules = apps.get_model("rules", "MergeRule").objects
    now = timezone.now()
    for name, document in BUILT_IN.items():
        values = {"document": document, "version": 0, "created_at": now, "updated_at": now, "updated_by": "built in"}
        rules.get_or_create(name=name, defaults=values)


class Migration(migrations.Migration):

    dependencies = [("rules", "0001_initial")]

    operations = [migrations.RunPython(add_built_in, migrations.RunPython.noop)]
