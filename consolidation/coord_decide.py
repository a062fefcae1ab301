"""A person's decision on a proposal: what was shown, byte for byte, is what is signed and recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from consolidation.coord_schema import Document


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reference as it was shown: its hash (`unresolved` where it names nothing), and words to show beside it.

    `kind` is record, file, event, memory, task, blob, https or unresolved.
    """

    ref: str
    hash: str
    kind: str
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person is asked about: the document as its file held it, its hashes, and every piece of its evidence."""

    document: Document
    raw: bytes = field(repr=False)
    action_hash: str
    proposal_hash: str
    evidence: tuple[Evidence, ...]

    @property
    def evidence_hashes(self) -> Mapping[str, str]:
        """Return the hash of each reference, as it is signed."""
        return {one.ref: one.hash for one in self.evidence}
