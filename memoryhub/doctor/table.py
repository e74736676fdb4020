"""The examinations of the doctor, in their order: the problems of *Now* by subject, and what is looked at besides."""

from django.utils.translation import gettext_lazy as _

from apps.monitor.domain.examinations import Examination
from memoryhub.doctor import configuration, database, stores, work
from memoryhub.problems.accounts import membership_problems, sign_in_problems
from memoryhub.problems.jobs import failed_job_problems
from memoryhub.problems.models import model_problems
from memoryhub.problems.processes import migration_problems
from memoryhub.problems.stores import knowledge_problems, timeline_problems

EXAMINATIONS: tuple[Examination, ...] = (
    Examination("database", _("Database"), (database.database_findings,), needs_database=False),
    Examination("settings", _("Settings"), (configuration.setting_findings,), needs_database=False),
    Examination("disk", _("Disk"), (database.disk_findings,), needs_database=False),
    Examination("connection", _("Connections"), (database.connection_findings,)),
    Examination("clock", _("Clock"), (database.clock_findings,)),
    Examination("migrations", _("Tables"), (migration_problems, database.newer_tables)),
    Examination("processes", _("Processes"), (work.process_findings,)),
    Examination("hosts", _("Hosts"), (configuration.command_findings,)),
    Examination("outbox", _("Deliveries"), (work.outbox_findings,)),
    Examination("schedules", _("Schedules and jobs"), (work.schedule_findings, failed_job_problems)),
    Examination(
        "files",
        _("Files of the timeline"),
        (stores.folder_findings, stores.segment_findings, timeline_problems),
        thorough=(stores.folder_findings, stores.checksum_findings, timeline_problems),
    ),
    Examination("notes", _("Notes"), (stores.note_findings,), thorough=(stores.note_text_findings,)),
    Examination("index", _("Search index"), (stores.index_findings,), thorough=(stores.snapshot_findings,)),
    Examination("models", _("Models"), (model_problems,)),
    Examination("knowledge", _("Knowledge"), (knowledge_problems,)),
    Examination("access", _("Access"), (sign_in_problems, membership_problems)),
)
