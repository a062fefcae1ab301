import pytest

from health.stats import median, percentile


@pytest.mark.parametrize(("share", "expected"), [(50, 20), (95, 40), (100, 40), (1, 10)])
def test_percentile_is_a_measured_value(share, expected):
    assert percentile([40, 10, 20, 30], share) == expected


def test_percentile_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_median():
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([4.0, 1.0, 2.0, 3.0]) == 2.5
