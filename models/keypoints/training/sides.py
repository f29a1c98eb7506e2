"""Which keypoint is on the left and which on the right, by their names."""

from collections.abc import Sequence


def mirror_order(names: Sequence[str]) -> list[int] | None:
    """Which keypoint each one is in a mirror: "left" and "right" swapped; None if one has no partner."""
    swapped = [name.replace("left", "\0").replace("right", "left").replace("\0", "right") for name in names]
    return [list(names).index(name) for name in swapped] if set(swapped) == set(names) else None
