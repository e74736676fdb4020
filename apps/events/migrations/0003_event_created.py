import django.contrib.postgres.indexes
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("events", "0002_job_runs"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="event",
            index=django.contrib.postgres.indexes.BrinIndex(
                autosummarize=True, fields=["created_at"], name="event_created"
            ),
        ),
    ]
