"""What cosines of a space mean: thresholds are stated on one scale (docs/decisions/0088)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.scope import Scope
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.vectors.scale import PLAIN_SCALE, Curve, Scale
from apps.rules.domain.engine.detection import cosine_of, is_near_enough
from apps.rules.domain.engine.weighing import READ_COSINE
from apps.semantic.conflicts.neighbours import MIN_COSINE, Probe, neighbours
from tests.unit.retrieval.test_matters import NOW, ids, row, search, towards
from tests.unit.rules.records import record

# A space whose cosines are half as far above those of unrelated texts.
HALF = Curve(((-1.0, -1.0), (0.0, 0.0), (0.45, 0.9), (1.0, 1.0)))
CUT = st.floats(-0.999, 0.999).map(lambda number: round(number, 3))


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    count = draw(st.integers(0, 5))
    cosines, values = (sorted(draw(st.sets(CUT, min_size=count, max_size=count))) for _ in range(2))
    return Curve(((-1.0, -1.0), *zip(cosines, values, strict=True), (1.0, 1.0)))


@given(curve=curves(), one=st.floats(-1, 1), other=st.floats(-1, 1))
def test_curve_rises_and_leads_back(curve: Curve, one: float, other: float) -> None:
    assert curve.cosine(curve.place(one)) == pytest.approx(one, abs=1e-9)
    assert curve.place_all(np.array([one, other])).tolist() == [curve.place(one), curve.place(other)]
    if one < other:
        assert curve.place(one) <= curve.place(other)


@given(cosine=st.floats(-1, 1))
def test_plain_scale_changes_no_bit(cosine: float) -> None:
    assert PLAIN_SCALE.statements.place(cosine) == PLAIN_SCALE.questions.cosine(cosine) == cosine


@pytest.mark.parametrize(
    "points",
    [
        ((0.0, 0.0), (1.0, 1.0)),
        ((-1.0, -1.0), (0.5, 0.6)),
        ((-1.0, -1.0), (0.5, 0.6), (0.4, 0.7), (1.0, 1.0)),
        ((-1.0, -1.0), (0.4, 0.7), (0.5, 0.7), (1.0, 1.0)),
    ],
    ids=["begins late", "ends early", "turns back", "stays level"],
)
def test_points_that_do_not_rise_are_no_curve(points: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValueError, match="must rise"):
        Curve(points)


def test_detection_reads_cosines_on_the_scale() -> None:
    one = record("Ana works as a nurse.", embedding=towards(1.0))
    other = record("The clinic hired her.", days=1, embedding=towards(READ_COSINE - 0.1))
    assert cosine_of(one, other) == pytest.approx(READ_COSINE - 0.1)
    assert not is_near_enough(one, other, cosine_of(one, other))
    one, other = replace(one, curve=HALF), replace(other, curve=HALF)
    assert cosine_of(one, other) == pytest.approx(2 * (READ_COSINE - 0.1))
    assert is_near_enough(one, other, cosine_of(one, other))


@pytest.mark.parametrize(("scale", "found"), [(PLAIN_SCALE, []), (Scale(statements=HALF), [2 * (MIN_COSINE - 0.05)])])
def test_neighbours_are_near_on_the_scale(scale: Scale, found: list[float]) -> None:
    store = RowStore(4, scale=scale)
    store.apply([row(1, "Ana bakes bread.", towards(MIN_COSINE - 0.05))])
    [near] = neighbours(store, [Probe(towards(1.0), (), Scope("ana", "", ""))], NOW)
    assert [one.cosine for one in near] == pytest.approx(found)


def test_newer_statement_comes_first_where_both_are_near_on_the_scale() -> None:
    rows = [row(1, "Ana lives in Lisbon now.", towards(0.9)), row(2, "Ana lives in Porto.", towards(0.45))]
    stores = [RowStore(4), RowStore(4, scale=Scale(HALF, HALF))]
    for store in stores:
        store.apply(rows)
    query = "Which town is it that is home?"
    assert [ids(search(query, store)) for store in stores] == [[1, 2], [2, 1]]
