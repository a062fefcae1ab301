"""The settings of a run, together."""

from dataclasses import dataclass, field

from recall.governance_settings import SigningSettings, StandingSettings
from recall.memory_settings import ConsolidationSettings, ExperienceSettings, MemorySettings, ReviewerSettings


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides how a run goes and how a candidate ends."""

    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    reviewer: ReviewerSettings = field(default_factory=ReviewerSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    experience: ExperienceSettings = field(default_factory=ExperienceSettings)
    standing: StandingSettings = field(default_factory=StandingSettings)
    signing: SigningSettings = field(default_factory=SigningSettings)
