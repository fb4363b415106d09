"""Pace: counts the rounds of a stage that lead nowhere, and says when the stage is over."""

import math

# Rounds that a search by slopes goes on without coming closer.
_STUCK = 3

# With realism, rounds without progress after which a stage ends that has not reached the target. Progress is so much of
# the mean score.
_IDLE, _PROGRESS = 2, 0.02

Nearness = tuple[bool, bool, float]
"""Closeness of a candidate to passing: whether it passes, whether it is predicted as the target, its mean score."""


class Pace:
    """Rounds of a stage so far.

    Args:
        patience: Rounds that a stage goes on after the one that found its best answer.
        guided: True if slopes lead the search: it goes back to other ways as soon as it comes no closer.
        realistic: True if candidates have to be believed: stages that lead nowhere come to a halt early. One that has
            reached the target goes on, for more certainty.
        start: Nearness of the factual.
    """

    def __init__(self, patience: int, guided: bool, realistic: bool, start: Nearness):
        self.patience, self.guided, self.realistic = patience, guided, realistic
        self.waited, self.stuck, self.idle, self.reached = 0, 0, 0, start

    def count(self, is_closer: bool, nearness: Nearness, is_better: bool, limit: float) -> None:
        """Count one more round.

        Args:
            is_closer: True if it came closer than all rounds before.
            nearness: That of the closest candidate so far.
            is_better: True if it found an answer that is better than all before.
            limit: Cost of the best answer; infinite if there is none.
        """
        self.stuck = self.stuck + 1 if self.guided and not is_closer else 0
        self.waited = 0 if is_better or limit == math.inf else self.waited + 1
        _, is_target, score = nearness
        if is_target or score > self.reached[2] + _PROGRESS:
            self.idle, self.reached = 0, nearness
        else:
            self.idle += 1

    @property
    def is_over(self) -> bool:
        """True if another round is not worth its while."""
        return self.waited >= self.patience or self.stuck > _STUCK or (self.realistic and self.idle >= _IDLE)
