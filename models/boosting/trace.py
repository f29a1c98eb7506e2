"""The record that a boosting run leaves."""

from dataclasses import dataclass, field


@dataclass
class BoostingTrace:
    """What happened in each round: mean loss after it, variables used so far, seconds since the start."""

    loss: list[float] = field(default_factory=list)
    features_used: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.loss)

    def append(self, loss: float, features_used: int, seconds: float) -> None:
        self.loss.append(loss)
        self.features_used.append(features_used)
        self.seconds.append(seconds)
