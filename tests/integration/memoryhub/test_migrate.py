"""`manage.py migrate` begins with what other packages bring (memoryhub/management/commands/migrate.py)."""

import pytest
from django.core.management import get_commands, load_command_class
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from memoryhub.management.commands.migrate import Command, OthersFirst, is_of_this_project

pytestmark = pytest.mark.django_db


def test_the_projects_command_is_the_one_that_runs() -> None:
    assert isinstance(load_command_class(get_commands()["migrate"], "migrate"), Command)  # type: ignore[arg-type]


def test_the_same_migrations_are_applied_and_what_needs_none_of_ours_comes_first() -> None:
    executor = OthersFirst(connection)
    graph = executor.loader.graph
    plan = [(one.app_label, one.name) for one, _ in executor.migration_plan(graph.leaf_nodes(), clean_start=True)]
    usual = MigrationExecutor(connection).migration_plan(graph.leaf_nodes(), clean_start=True)
    assert sorted(plan) == sorted((one.app_label, one.name) for one, _ in usual)
    needs_ours = {node for node in plan if any(is_of_this_project(other) for other in graph.forwards_plan(node))}
    assert {is_of_this_project(node) for node in plan} == {True, False}
    assert plan[: len(plan) - len(needs_ours)] == [node for node in plan if node not in needs_ours]
