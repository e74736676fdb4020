import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

NAMES = ("Viewer", "Reviewer", "Operator", "Owner")


def rename_own_groups(apps, schema_editor):
    """Rename groups that were made by hand under the names of roles, so that nobody gains permissions by them."""
    Group = apps.get_model("auth", "Group")
    for name in NAMES:
        Group.objects.filter(name=name).update(name=f"{name} (made by hand)")


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CachedValue",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="FailedSignIns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hour", models.DateTimeField()),
                ("count", models.PositiveIntegerField(default=0)),
                ("noticed", models.PositiveIntegerField(default=0)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("last_address", models.GenericIPAddressField(null=True)),
                (
                    "login",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="failed_sign_ins",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("login__isnull", False)),
                        fields=("login", "hour"),
                        name="accounts_failures_of_account",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("login__isnull", True)), fields=("hour",), name="accounts_failures_of_none"
                    ),
                ],
            },
        ),
        migrations.RunPython(rename_own_groups, migrations.RunPython.noop),
    ]
