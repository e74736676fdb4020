"""A sample of each series every minute, one an hour after two days, none after a year."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from prometheus_client import Counter, Histogram

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Scope
from apps.monitor.domain.series import Number, SampleContext, Series, SeriesKind
from apps.monitor.models import CounterReading, Sample
from apps.monitor.services import all_series, sample_take, samples_roll_up, series_read
from apps.monitor.tasks import roll_up, sample
from tests.api import api_for

pytestmark = pytest.mark.django_db

HERE = "tests.integration.monitor.test_samples"
NOON = datetime(2026, 5, 10, 12, 0, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TEA = Counter("test_monitor_tea", "Cups of tea.")
BREWING = Histogram("test_monitor_brewing_seconds", "Time to brew.", buckets=(0.1, 1.0))


def tea(context: SampleContext) -> dict[str, Number]:
    return {"tea": context.metrics.total("test_monitor_tea_total")}


def brewing(context: SampleContext) -> dict[str, Number]:
    return {"brewing": context.metrics.histogram("test_monitor_brewing_seconds", 0.5), "unknown": 1.0}


def pots(_context: SampleContext) -> dict[str, Number]:
    return {"pots": 3}


def broken(_context: SampleContext) -> dict[str, Number]:
    raise RuntimeError("secret")


SERIES = tuple(
    Series(name=name, label=name, unit="count", kind=kind, path=f"{HERE}.{name}")
    for name, kind in (
        ("broken", SeriesKind.GAUGE),
        ("tea", SeriesKind.COUNTER),
        ("brewing", SeriesKind.QUANTILE),
        ("pots", SeriesKind.GAUGE),
    )
)


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(int(NOON.timestamp() * 1_000))


@pytest.fixture
def few(settings: Any) -> None:
    """Four series of the test's own, of which one has a source that fails."""
    settings.SERIES = f"{HERE}.SERIES"


def stored(name: str) -> list[float]:
    return list(Sample.objects.filter(series=name).order_by("at").values_list("value", flat=True))


def add(series: str, at: datetime, value: float, *, is_hourly: bool = False) -> None:
    Sample.objects.create(series=series, at=at, value=value, is_hourly=is_hourly)


@pytest.mark.usefixtures("few")
def test_samples_are_increases_of_counters_quantiles_and_gauges(clock: DeterministicClock) -> None:
    TEA.inc(5)
    sample_take(clock=clock)
    assert (stored("tea"), stored("brewing"), stored("pots")) == ([], [], [3.0])  # nothing to subtract yet
    for cups in (2, 0):
        clock.advance(60_000)
        TEA.inc(cups)
        for _ in range(cups):
            BREWING.observe(0.5)
        sample_take(clock=clock)
    assert (stored("tea"), stored("brewing"), stored("pots")) == ([2.0, 0.0], [pytest.approx(0.55)], [3.0] * 3)
    assert stored("broken") == []
    assert Sample.objects.earliest("at").at == NOON.replace(second=0)


@pytest.mark.usefixtures("few")
def test_minute_has_one_sample_however_often_it_is_taken(clock: DeterministicClock) -> None:
    sample_take(clock=clock)
    clock.advance(60_000)
    TEA.inc(3)
    assert sample_take(clock=clock) == 2
    clock.advance(20_000)
    TEA.inc(1)
    assert sample_take(clock=clock) == 0
    clock.advance(40_000)
    sample_take(clock=clock)
    assert stored("tea") == [3.0, 1.0], "what a repeated task found is not lost"


@pytest.mark.usefixtures("few")
def test_counter_that_restarts_is_never_negative(clock: DeterministicClock) -> None:
    TEA.inc(1)
    sample_take(clock=clock)
    CounterReading.objects.update(totals={"tea": 1e9, "brewing": [1e9, 1e9, 1e9]})
    clock.advance(60_000)
    sample_take(clock=clock)
    assert stored("tea") == [TEA._value.get()]


@pytest.mark.usefixtures("few")
def test_worker_that_was_stopped_leaves_a_gap(clock: DeterministicClock) -> None:
    for minutes in (0, 1, 10, 1):
        clock.advance(minutes * 60_000)
        TEA.inc(7)
        sample_take(clock=clock)
    start = NOON.replace(second=0)
    read = series_read(["tea", "pots"], start, start + 13 * MINUTE, 13, clock=clock)
    assert [value for _, value in read["pots"]] == [3.0, 3.0, *[None] * 9, 3.0, 3.0]
    assert [value for _, value in read["tea"]] == [None, 7.0, *[None] * 9, None, 7.0]
    assert [at for at, _ in read["tea"]] == [start + number * MINUTE for number in range(13)]


@pytest.mark.usefixtures("few")
def test_clock_that_was_wrong_does_not_stop_samples(clock: DeterministicClock) -> None:
    CounterReading.objects.create(host=CounterReading.objects.model._meta.label, at=NOON)
    sample_take(clock=clock)
    CounterReading.objects.update(at=NOON + timedelta(days=400))
    clock.advance(60_000)
    assert sample_take(clock=clock) == 1


@pytest.mark.usefixtures("few")
def test_minutes_become_hours_after_two_days(clock: DeterministicClock) -> None:
    old = NOON.replace(second=0) - timedelta(hours=60)  # 00:00 two and a half days ago
    for number in range(0, 180, 10):
        add("tea", old + number * MINUTE, 2.0)
        add("pots", old + number * MINUTE, float(number // 60))
    kept = NOON.replace(second=0) - timedelta(hours=47)
    add("pots", kept, 9.0)
    assert samples_roll_up(clock=clock) == 36
    hours = [old + timedelta(hours=number) for number in range(3)]
    rows = Sample.objects.filter(is_hourly=True).order_by("series", "at").values_list("series", "at", "value")
    assert list(rows) == [
        *[("pots", hour, float(number)) for number, hour in enumerate(hours)],
        *[("tea", hour, 12.0) for hour in hours],
    ]
    assert Sample.objects.get(is_hourly=False).at == kept
    assert samples_roll_up(clock=clock) == 0


@pytest.mark.usefixtures("few")
def test_late_minutes_are_joined_to_the_hour_that_exists(clock: DeterministicClock) -> None:
    old = NOON.replace(second=0) - timedelta(hours=60)
    for value in (4.0, 6.0):
        add("tea", old, value)
        add("pots", old, value)
        samples_roll_up(clock=clock)
    assert (stored("tea"), stored("pots")) == ([10.0], [5.0])


@pytest.mark.usefixtures("few")
def test_samples_older_than_a_year_are_deleted(clock: DeterministicClock) -> None:
    for days in (364, 366, 800):
        add("tea", NOON - timedelta(days=days), 1.0, is_hourly=True)
    CounterReading.objects.create(host="gone", at=NOON - timedelta(days=2))
    assert samples_roll_up(clock=clock) == 2
    assert Sample.objects.get().at == NOON - timedelta(days=364)
    assert not CounterReading.objects.exists()


@pytest.mark.usefixtures("few")
def test_of_400_days_a_year_of_hours_and_two_days_of_minutes_are_left(clock: DeterministicClock) -> None:
    begin, hour = NOON - timedelta(days=400), timedelta(hours=1)
    rows = [Sample(series="tea", at=begin + number * hour, value=1.0, is_hourly=True) for number in range(390 * 24)]
    # The worker was away for ten days, so these are minutes still.
    rows += [Sample(series="tea", at=NOON - number * 10 * MINUTE, value=1.0) for number in range(10 * 24 * 6)]
    Sample.objects.bulk_create(rows)
    samples_roll_up(clock=clock)
    hours, minutes = (Sample.objects.filter(is_hourly=kind).order_by("at") for kind in (True, False))
    oldest = hours.first()
    assert oldest is not None
    assert timedelta() <= oldest.at - (NOON - timedelta(days=365)) < hour
    assert 363 * 24 - 1 <= hours.count() <= 363 * 24 + 1
    assert 48 * 6 <= minutes.count() <= 49 * 6 + 1


@pytest.mark.usefixtures("few")
def test_samples_of_a_clock_that_was_years_ahead_are_deleted(clock: DeterministicClock) -> None:
    for days in (0, 2, 20_000):
        add("tea", NOON + timedelta(days=days), 1.0)
    CounterReading.objects.create(host="ahead", at=NOON + timedelta(days=400))
    assert samples_roll_up(clock=clock) == 2
    assert Sample.objects.get().at == NOON
    assert not CounterReading.objects.exists()


@pytest.mark.usefixtures("few")
def test_chart_of_a_month_joins_hours_and_minutes(clock: DeterministicClock) -> None:
    today, start = NOON.replace(hour=0, second=0), NOON - timedelta(days=30)
    for hour in range(24):
        add("tea", today - timedelta(days=10) + timedelta(hours=hour), 5.0, is_hourly=True)
        add("pots", today - timedelta(days=10) + timedelta(hours=hour), float(hour), is_hourly=True)
    for minute in range(30):
        add("tea", today + minute * MINUTE, 1.0)
    read = series_read(["tea", "pots", "absent"], start, NOON, 31, clock=clock)
    assert [(at.date(), value) for at, value in read["tea"] if value] == [(today.date() - timedelta(days=10), 120.0)]
    assert [value for _, value in read["pots"] if value] == [11.5]
    assert {value for _, value in read["absent"]} == {None}
    assert len(read["tea"]) <= 31


def test_every_series_has_a_source_that_knows_it(
    clock: DeterministicClock, django_capture_on_commit_callbacks: Any
) -> None:
    """Also that traffic of the hub arrives in the numbers."""
    api = api_for(Scope("ana"))
    sample_take(clock=clock)
    with django_capture_on_commit_callbacks(execute=True):
        assert api.save("Tea is at four.")
    assert api.search("tea")["results"]
    assert api.post("/api/semantic/search", {"query": ""}).status_code == 400
    clock.advance(60_000)
    sample_take(clock=clock)
    last = {row.series: row.value for row in Sample.objects.filter(at=NOON.replace(second=0) + MINUTE)}
    assert (last["saves"], last["searches"], last["errors_4xx"], last["errors_5xx"]) == (1, 1, 1, 0)
    assert last["requests"] == 3
    assert 0 < last["search_p50"] <= last["search_p95"] < 30_000
    assert last["memories_active"] == 1
    assert last["disk_free"] > 0
    assert last["data_bytes"] > 0
    missing = {series.name for series in all_series()} - last.keys()
    # No process of the hub publishes itself in this test, and there is no socket.
    assert missing <= {"index_backlog", "index_bytes", "memory_bytes", "sockets"}


def test_sample_costs_the_same_with_many_samples(clock: DeterministicClock) -> None:
    sample()
    CounterReading.objects.all().delete()
    with CaptureQueriesContext(connection) as queries:
        sample_take(clock=clock)
    assert len(queries) <= 60
    roll_up()
    now = datetime.now(UTC)
    with CaptureQueriesContext(connection) as queries:
        series_read([one.name for one in all_series()], now - timedelta(days=365), now, 120)
    assert len(queries) == 1
