"""Deliveries of 0.1.0 name their subscribers by where those were then; the retried and redelivered ones need them."""

from django.db import migrations

OLD, NEW = "apps.semantic.bridge_handlers.", "apps.semantic.bridge.handlers."
NAMES = ("events_saved", "events_pruned", "timeline_warned", "timeline_healthy")


def _rename(apps, old, new):
    deliveries = apps.get_model("events", "Delivery").objects
    for name in NAMES:
        deliveries.filter(subscriber=old + name).update(subscriber=new + name)


def forwards(apps, schema_editor):
    _rename(apps, OLD, NEW)


def backwards(apps, schema_editor):
    _rename(apps, NEW, OLD)


class Migration(migrations.Migration):
    dependencies = [("semantic", "0007_repair_reason"), ("events", "0001_initial")]

    operations = [migrations.RunPython(forwards, backwards)]
