"""Numbers as they are written for people: short, and never rounded to a false certainty."""

import math

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: float) -> str:
    """A probability as a percentage with three significant digits; close to 1, two of what is missing.

    0 and 100 % are written only for exactly 0 and 1. Example:

    >>> percent(0.003793843386), percent(0.99999987), percent(2.131e-11)
    ('0.379 %', '99.999987 %', '2.13·10⁻⁹ %')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    hundred = 100 * share
    if share > 0.99:
        decimals = min(14, 1 - math.floor(math.log10(100 * (1 - share))))
        return f"{hundred:.{decimals}f} %"
    if hundred < 1e-4:
        return f"{scientific(hundred)} %"
    return f"{hundred:.{max(0, 2 - math.floor(math.log10(hundred)))}f} %"


def scientific(value: float) -> str:
    """Three significant digits and a raised power of ten: `2.13·10⁻⁹`."""
    digits, power = f"{value:.2e}".split("e")
    return f"{digits}·10{str(int(power)).translate(_RAISED)}"


def every_digit(value: float) -> str:
    """All digits of a number, with the minus sign of the formulas beside it: `−0.22597822146650945`."""
    return repr(value).replace("-", "−")


def nats(loss: float) -> str:
    """A loss with four decimals, or three significant digits when it is smaller: `0.0091`, `4.21·10⁻⁶`."""
    if loss and abs(loss) < 1e-3:
        return scientific(loss)
    return f"{loss:.4f}"
