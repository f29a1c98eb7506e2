"""Which rows an iteration passes over."""

from .losses import Loss


class Batches:
    """Ranges of rows: mini-batches while features leave, one range of all rows afterwards.

    Parameters
    ----------
    loss : Loss
        Says where the rows may be cut.
    size : int or None
        Rows in a mini-batch; None for all.
    per_iteration : int or None
        Batches that an iteration takes, after those that the one before took; None for all.
    """

    def __init__(self, loss: Loss, size: int | None, per_iteration: int | None) -> None:
        self._loss = loss
        self._ranges = loss.splits(size)
        self._per_iteration = per_iteration

    @property
    def are_split(self) -> bool:
        """Whether there is more than one."""
        return len(self._ranges) > 1

    @property
    def last(self) -> tuple[int, int]:
        """The last range of rows."""
        return self._ranges[-1]

    def join(self) -> None:
        """Make one batch of all rows, from now on."""
        self._ranges = self._loss.splits(None)

    def of_iteration(self, e: int) -> list[tuple[int, int]]:
        """Return the batches that iteration e = 1, 2, ... takes."""
        n = self._per_iteration or len(self._ranges)
        first = (e - 1) % -(-len(self._ranges) // n) * n
        return self._ranges[first : first + n]
