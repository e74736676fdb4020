"""`manage.py migrate`: Django's own command, in an order in which a new database takes much less time."""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.core.management.commands import migrate
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration

from memoryhub.process.recorded import OUR_APPS

Targets = Sequence[tuple[str, str | None]] | set[tuple[str, str]]


def is_of_this_project(target: tuple[str, str | None]) -> bool:
    """Return whether a migration, named by app and name, is the project's own."""
    return apps.get_app_config(target[0]).name.startswith(OUR_APPS)


class OthersFirst(MigrationExecutor):
    """Applies what other packages bring before what is the project's own, as far as dependencies allow it.

    With each change of a model Django builds again every model that refers to it or to which it refers. Once the
    tables of this project refer to accounts, that is all of them, for each of some hundred changes of others.
    """

    def migration_plan(self, targets: Targets, clean_start: bool = False) -> list[tuple[Migration, bool]]:
        """Return the migrations that lead to these targets, in the order in which they are applied."""
        return super().migration_plan(sorted(targets, key=is_of_this_project), clean_start)


class Command(migrate.Command):
    """Django's command, which takes its executor from its module."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Apply migrations."""
        migrate.MigrationExecutor = OthersFirst  # type: ignore[attr-defined]
        super().handle(*args, **options)
