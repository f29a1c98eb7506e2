"""What the numbers of a column's categories stand for."""

from collections.abc import Sequence

from ..curves import Axis


def labels_of(estimator, axis: Axis) -> Sequence[str]:
    """Return the texts of an axis's knots: labels of categories, or the numbers themselves."""
    labels = getattr(estimator, "categories_", {}).get(axis.feature)
    if axis.is_category and labels is not None:
        return [str(labels[int(number)]) for number in axis.knots]
    return [f"{knot:g}" for knot in axis.knots]
