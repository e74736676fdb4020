from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("monitor", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="CounterReading",
            fields=[
                ("host", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("totals", models.JSONField(default=dict)),
            ],
        ),
    ]
