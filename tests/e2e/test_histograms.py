"""In which bin of a histogram a value is."""

from __future__ import annotations

import pytest

from tests.support import Profiled, inputs_of, key, profiled, write_run

# values that lie on the bounds of their bins, some of which a double cannot hold
EVEN_STEPS = {
    f"{count}_steps_of_1_{divisor}": [i / divisor for i in range(count)]
    for divisor in (1, 3, 10)
    for count in (41, 61, 101)
}


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """One metric for each of the lists."""
    rows = [
        key(task, 0, **{name: own[task] for name, own in EVEN_STEPS.items() if task < len(own)})
        for task in range(101)
    ]
    folder = tmp_path_factory.mktemp("stepped")
    return profiled(write_run(folder, rows, inputs=inputs_of(rows)))


@pytest.mark.parametrize("metric", EVEN_STEPS)
def test_every_value_lies_in_its_bin(metric: str, stepped: Profiled) -> None:
    rows = stepped.table(f"from metric_histograms where metric = '{metric}' order by bin_index")
    assert [row["bin_index"] for row in rows] == list(range(20))
    for row in rows:
        low, high, is_last = row["bin_low"], row["bin_high"], row["bin_index"] == 19
        inside = [x for x in EVEN_STEPS[metric] if low <= x and (x < high or is_last)]
        assert row["rollout_count"] == len(inside), row
