"""Settings of what a person governs: approvals, the standing context, audiences, the live window, signatures.

On the hook path: standard library only.
"""

from dataclasses import dataclass

from recall.settings import check_numbers, check_one_of

AUDIENCES = ("private", "project", "shared", "peer")  # from the narrowest circle to the widest
WINDOW_POLICIES = ("sliding", "autocompact", "off")
SIGNING = ("hmac", "ssh")
MOST_DAYS = 365  # that an approval holds, and that a proposal waits


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """How long a decision may wait for its application, and a proposal for its decision."""

    expires_days: int = 7
    timeout_days: int = 30

    def __post_init__(self) -> None:
        check_numbers(self, positive=("expires_days", "timeout_days"))
        for name in ("expires_days", "timeout_days"):  # a project's own file must not let an approval hold for ever
            if getattr(self, name) > MOST_DAYS:
                raise ValueError(f"{name} is {getattr(self, name)}, must be at most {MOST_DAYS}")


@dataclass(frozen=True, slots=True)
class StandingSettings:
    """What a session always carries: identity, role, instructions, critical memories."""

    enabled: bool = True
    chars: int = 50_000
    start_tokens: int = 2_000
    folders: str = ""  # more places that are laid out like an identity folder, by the system's path separator
    cited_rule: int = 10

    def __post_init__(self) -> None:
        check_numbers(self, positive=("chars",))

    @property
    def told_tokens(self) -> int:
        """How many tokens of it a session may be told, 0 where it is switched off."""
        return self.start_tokens if self.enabled else 0


NOTHING_CARRIED = StandingSettings(enabled=False)


@dataclass(frozen=True, slots=True)
class AudienceSettings:
    """Who is taken to read what a session is told."""

    session: str = "private"
    shared_channels: str = ""  # names by blanks

    def __post_init__(self) -> None:
        check_one_of("session", self.session, AUDIENCES)


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """What may leave a session's live window, and when."""

    policy: str = "autocompact"
    thresholds: str = "0.6 0.75 0.9"  # shares of the window by blanks, rising
    keep_exchanges: int = 6
    stub_tokens: int = 400
    margin_tokens: int = 2_000

    def __post_init__(self) -> None:
        check_numbers(self)
        check_one_of("policy", self.policy, WINDOW_POLICIES)
        self.shares()

    def shares(self) -> tuple[float, ...]:
        """The thresholds as numbers, rising; ValueError where they are none."""
        try:
            found = tuple(float(one) for one in self.thresholds.split())
        except ValueError:
            found = ()
        if not found or list(found) != sorted(set(found)) or not all(0 < one <= 1 for one in found):
            raise ValueError(f"thresholds is {self.thresholds!r}, must be rising shares above 0, up to 1, by blanks")
        return found


@dataclass(frozen=True, slots=True)
class SigningSettings:
    """What the head of the record is signed with: a key of recall's own, or one of ssh."""

    kind: str = "hmac"
    key: str = ""  # the path of the ssh key

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, SIGNING)
        if self.kind == "ssh" and not self.key.strip():
            raise ValueError("kind is ssh, so key must name the key's file")
