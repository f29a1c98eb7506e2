import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.training.record import RoundRecord, SelectionScore


def test_selection_score_of_nothing(make_curve):
    score = SelectionScore.of_curve(make_curve([], [], []))
    assert (score.recall, score.precision, score.curve) == (0.0, 1.0, [])


def test_selection_score_says_what_the_threshold_gives(make_curve):
    score = SelectionScore.of_curve(make_curve([3.0, 2.0, 1.0], [0.2, 0.6, 0.7], [1.0, 0.9, 0.3]))
    assert (score.photos, score.keypoints) == (4, 10)
    assert (score.recall, score.precision) == (0.6, 0.9)
    assert score.average_precision == pytest.approx(0.2 * 1 + 0.4 * 0.9 + 0.1 * 0.3)
    assert score.curve == [[0.2, 1.0], [0.6, 0.9], [0.7, 0.3]]


def test_record_comes_back_from_json(make_curve):
    score = SelectionScore.of_curve(make_curve([3.0], [0.2], [1.0]))
    record = RoundRecord({"scan": 1.5}, {"scan": 7}, [[1.0, 0.5]], [[0.3]], [score])
    assert RoundRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize("values", [{"other": 1}, {"validation": [{"photos": 3}]}, {"validation": 3}])
def test_a_broken_record_is_refused(values):
    with pytest.raises(DataError, match="not the record of a round"):
        RoundRecord.from_json(values)
