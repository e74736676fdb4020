"""What a chart draws of its values."""

import pytest

from apps.core.admin.charts import Chart, Series


@pytest.mark.parametrize(
    ("values", "radii"),
    [
        ([None, 4.0, None], [0, 3, 0]),
        ([4.0], [3]),
        ([1.0, 2.0, None, 3.0], [0, 0, 0, 3]),
        ([None, None], [0, 0]),
    ],
)
def test_sample_without_neighbour_is_a_point(values: list[float | None], radii: list[int]) -> None:
    series = Series(label="Requests", values=values, tone="accent")
    chart = Chart(
        name="requests", title="Requests", labels=[str(place) for place in range(len(values))], series=[series]
    )
    assert chart.dataset(series)["pointRadius"] == radii
