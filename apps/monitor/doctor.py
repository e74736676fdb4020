"""The doctor of the hub: one examination after the other, of settings.EXAMINATIONS; nothing is changed."""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.module_loading import import_string

from apps.monitor.domain.examinations import Examination, Examined, Source
from apps.monitor.domain.problems import Problem
from apps.monitor.problems import database_problem, source_problem

logger = logging.getLogger(__name__)
DATABASE_CODES = frozenset({"database_missing", "database_unreachable", "migrations_missing"})


def examine(*, thorough: bool = False) -> Iterator[Examined]:
    """Yield what each examination found, as soon as it has. thorough: read every file completely.

    Once the database cannot be used, by its absence or its tables, those that need it are left out.
    """
    examinations: Sequence[Examination] = import_string(settings.EXAMINATIONS)
    is_usable = True
    for one in examinations:
        began = time.monotonic()
        if one.needs_database and not is_usable:
            yield Examined(one.name, str(one.title), None, 0.0)
            continue
        sources = (thorough and one.thorough) or one.sources
        found = sorted(findings_of(sources), key=lambda finding: (-finding.severity, finding.code, finding.subject))
        is_usable = is_usable and not any(finding.code in DATABASE_CODES for finding in found)
        yield Examined(one.name, str(one.title), found, time.monotonic() - began)


def findings_of(sources: Iterable[Source]) -> Iterator[Problem]:
    """Yield what sources find; a source that fails is a finding itself, and a database that is gone ends them."""
    for source in sources:
        try:
            yield from source()
        except (OperationalError, InterfaceError) as error:
            yield database_problem(f"{type(error).__name__}")
            return
        except Exception as error:  # noqa: BLE001  (whatever made it fail, the others are asked)
            function = getattr(source, "func", source)
            path = f"{function.__module__}.{function.__qualname__}"
            logger.warning("the findings of %s are not known: %s", path, type(error).__name__)
            yield source_problem(path, error)
