"""Counterparts are two: what is said of one of them says nothing of the other."""

import pytest

from apps.rules.domain.statements.contrasts import are_counterparts


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My elder son plays handball.", "My younger son quit handball."),
        ("Template B has a clause on overtime.", "Template C has no clause on overtime."),
        ("I have a son.", "I have no daughter."),
        ("大舅在鐵路局上班。", "小舅不在鐵路局上班。"),
        ("用户这周上早班。", "用户下周不上早班。"),
        ("Room 5 has a projector.", "Room 6 has no projector."),
    ],
)
def test_counterparts(older: str, newer: str) -> None:
    assert are_counterparts(older, newer)
    assert are_counterparts(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Maya lives in Porto.", "Maya moved to Lisbon."),
        ("My son plays handball.", "My son quit handball."),
        ("My brother and my sister live in Rome.", "My sister left Rome."),
        ("We meet in room 5.", "The meeting room is room 5."),
        ("大舅在鐵路局上班。", "大舅退休了。"),
    ],
)
def test_others_are_not(older: str, newer: str) -> None:
    assert not are_counterparts(older, newer)
