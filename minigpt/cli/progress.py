"""One line with the progress of a run: a bar, the loss, the speed and the time left."""

from collections.abc import Callable
from time import monotonic

from minigpt.training.loop import StepReport

BAR = 24  # characters


class ProgressLine:
    """Turns step reports into a line at most ten times a second, speed and time left from the last seconds.

    `clock` gives seconds, as `time.monotonic` does.
    """

    def __init__(self, steps: int, clock: Callable[[], float] = monotonic):
        self.steps, self.clock = steps, clock
        self.marks: list[tuple[float, int]] = []  # (time, step) of the last lines

    def line(self, report: StepReport) -> str | None:
        """The line after `report`, or None when the last one is younger than a tenth of a second."""
        now = self.clock()
        if self.marks and now - self.marks[-1][0] < 0.1 and report.step < self.steps:
            return None
        self.marks = [*self.marks[-30:], (now, report.step)]
        done = BAR * report.step // self.steps
        line = f"[{'█' * done}{'·' * (BAR - done)}] {report.step}/{self.steps}  loss {report.loss:.4f}"
        (since, first), (until, last) = self.marks[0], self.marks[-1]
        if until == since:
            return line
        rate = (last - first) / (until - since)
        return f"{line}  {rate:.0f} steps/s  {duration((self.steps - report.step) / rate)} left"


def duration(seconds: float) -> str:
    """Seconds as m:ss or h:mm:ss, rounded up: 61.2 -> 1:02."""
    whole = int(-(-seconds // 1))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
