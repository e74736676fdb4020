"""What holds of one of several things is not acted on because of what holds of another."""

import pytest

from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.signals import DetectionConfig, SignalType
from tests.unit.rules.records import record

CONFIG = DetectionConfig()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana's cousin is named Tom", "Ana's cousin is named Eva"),
        ("My friend is called Tom", "My friend is called Eva"),
        ("My older sister lives in Rome", "My older sister lives in Paris"),
        ("The twins' dog is called Rex", "The twins' dog is called Max"),
        ("My colleague works at Google", "My colleague works at Apple"),
        ("Ana's aunt is 50 years old", "Ana's aunt is 60 years old"),
        ("Ana worked at Google", "Ana worked at Apple"),
        ("Ana lived in Rome", "Ana lived in Paris"),
        ("Ana never drinks coffee in the evening", "Ana drinks coffee in the morning"),
        ("I never swim in winter", "I swim in summer"),
    ],
)
def test_one_of_several_is_noticed_at_most(one: str, other: str) -> None:
    assert not detect(record(one), record(other), CONFIG).is_decisive
    assert not detect(record(other), record(one), CONFIG).is_decisive


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana lives in Rome", "Ana lives in Paris"),
        ("Ana works at Google", "Ana works at Apple"),
        ("Ana never drinks coffee in the evening", "Ana drinks coffee in the evening"),
        ("My sister is allergic to nuts", "My sister is not allergic to nuts"),
    ],
)
def test_what_can_hold_only_once_is_acted_on(one: str, other: str) -> None:
    found = detect(record(one), record(other), CONFIG)
    assert found.is_decisive
    assert found.signal(SignalType.CONTRADICTION) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [("Score is -5.", "Score is 5."), ("The price is €5.", "The price is $5."), ("The rate is 5%", "The rate is 5")],
)
def test_signs_and_units_make_another_value(one: str, other: str) -> None:
    assert not detect(record(one), record(other), CONFIG).restates
