"""What applying a proposal may do besides its item in the canonical memory: the side that carries it out."""

from collections.abc import Mapping
from typing import Any, Protocol

from transcript.coord_codes import Refusal
from transcript.event import Draft


class Effects(Protocol):
    """Carries out what an applied action says about memories, procedures, identity files and packs."""

    def check(self, action: Mapping[str, Any]) -> Refusal | None:
        """Return why the action cannot take effect now, None when it can. Writes nothing."""

    def drafts(
        self, action: Mapping[str, Any], item: Mapping[str, Any], decision: Mapping[str, Any], at: str
    ) -> tuple[list[Draft], dict[str, Any] | None]:
        """Return the events of the effect, and its body for `proposal.applied` (kind, target, path?, sha256?, text?).

        They go into one batch with `proposal.applied`. `at` is the moment as the record writes it.
        """

    def land(self, effect: Mapping[str, Any]) -> None:
        """Write the files of an effect that the record holds; done again it changes nothing."""


class _NoEffects:
    """The effects of actions on the canonical memory alone: none."""

    def check(self, action: Mapping[str, Any]) -> Refusal | None:
        return None

    def drafts(
        self, action: Mapping[str, Any], item: Mapping[str, Any], decision: Mapping[str, Any], at: str
    ) -> tuple[list[Draft], dict[str, Any] | None]:
        return [], None

    def land(self, effect: Mapping[str, Any]) -> None:
        return None


NO_EFFECTS: Effects = _NoEffects()
