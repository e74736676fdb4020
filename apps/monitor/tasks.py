"""The tasks of django-q2 for numbers over time; schedules and the queue store their paths."""

from apps.monitor import services


def sample() -> None:
    """Each minute: take a sample of each series."""
    services.sample_take()


def roll_up() -> None:
    """Each hour: join old samples into one an hour, and delete the oldest."""
    services.samples_roll_up()


def send_alarms() -> None:
    """Each minute: send which problems began, and which are over."""
    services.alarms_send()
