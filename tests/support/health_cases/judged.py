"""Measures that somebody judges, with and without two raters who agree."""

from health.facts import JudgedMeasure
from support.health_cases import Case, well

AGREED = JudgedMeasure("continuity", 40, raw=0.95, chance=0.5, kappa=0.9, direction="no disagreement")
POOR = JudgedMeasure(
    "prevented mistakes",
    20,
    raw=0.8,
    chance=0.815,
    kappa=-0.08,
    favours="author",
    direction="author is the more favourable in 3 of 4 disagreements",
)

CASES = {
    "uncalibrated_measures": Case(
        well("judged", measures=(AGREED, JudgedMeasure("style"))),
        well("judged", measures=(AGREED, JudgedMeasure("style"), POOR)),
        (
            "1 judged measure in use | continuity: kappa 0.90 (raw 95%, by chance 50%, of 40 items)",
            "1 of 2 judged measures not calibrated: style, no agreement is known",
            "2 of 3 judged measures not calibrated: prevented mistakes, kappa -0.08, in favour of author | prevented"
            " mistakes: kappa -0.08 (raw 80%, by chance 82%, of 20 items); author is the more favourable in 3 of 4",
        ),
        healthy=well("judged", measures=(AGREED,)),
    ),
}
