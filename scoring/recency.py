"""T, temporal salience: age lowers an item, experience slows the fall."""

import math
from datetime import datetime

DAY_SECONDS = 86_400.0


def temporal_salience(age_days: float, experience: float, *, half_life_days: float, stretch: float) -> float:
    """Halve for every half-life of age; experience stretches the half-life.

    Formula: 2 ** (-age_days / (half_life_days * (1 + stretch * experience)))
    Range:   [0, 1]; 1 at age 0; never rises with age, never falls with experience.
    Source:  LCA 5.2.3.
    """
    if not 0 <= age_days < math.inf:
        raise ValueError(f"age_days is {age_days}, must be finite and not negative")
    return math.exp2(-age_days / (half_life_days * (1.0 + stretch * experience)))


def age_days(said: float, now: datetime) -> float:
    """Age in days of a time in seconds since 1970; a time after now counts as now, so no age is negative.

    The reference point is the event's own time for transcript text, and the later of creation and last
    application for a memory: the caller passes that one.
    """
    return max(0.0, (now.timestamp() - said) / DAY_SECONDS)
