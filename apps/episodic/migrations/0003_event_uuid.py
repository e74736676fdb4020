from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodic", "0002_prepared_retention")]
    operations = [
        migrations.AddIndex(
            model_name="timelineevent",
            index=models.Index(fields=["uuid"], name="episodic_event_uuid"),
        ),
    ]
