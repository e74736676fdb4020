"""The door of `monitor`: numbers over time, what needs a person, and alarms about it."""

from apps.monitor.alarms.channels import check_url
from apps.monitor.alarms.send import alarm_settings, alarm_settings_save, alarm_test, alarms_send
from apps.monitor.doctor import examine
from apps.monitor.models import ALARM_LEVELS
from apps.monitor.problems import (
    DATABASE_CHECK,
    HUB_PERMISSION,
    current_problems,
    database_problem,
    forget_recent_problems,
    problems_for,
    recent_problems,
)
from apps.monitor.samples import all_series, sample_take, samples_roll_up, series_read
from apps.monitor.watch import begin_problem_watch, end_problem_watch
