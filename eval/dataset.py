"""What every public question set is read into: dialogues of dated turns, and questions with the turns that answer.

A loader (eval/locomo.py and its like) makes a `Dataset`; `eval.dialogue_index` takes its dialogues in through the
shipped capture, `eval.dataset_run` asks its questions.
"""

from dataclasses import dataclass
from datetime import datetime

DEV, TEST = "dev", "test"
PERSON, USER, ASSISTANT = "person", "user", "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. `id` is unique in its dialogue; `role` is person in a talk between people, else user or assistant."""

    id: str
    session: str
    speaker: str
    text: str
    said: datetime
    role: str = PERSON


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold: ids of turns, and of sessions; `stale` are turns or sessions that are out of date.

    `answerable` is False where the right answer is silence. `split` is dev (numbers may be fitted on it) or test.
    `session` is the one it is typed in, whose own turns are not looked for; "" for none of them.
    """

    id: str
    text: str
    type: str
    asked_at: datetime
    turns: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    answerable: bool = True
    split: str = TEST
    session: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The turns of one history, in order, and the questions asked of it."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A question set, with the SHA-256 of the files it came from."""

    name: str
    sha256: str
    dialogues: tuple[Dialogue, ...]
    labels: str = ""  # what counts as an answer and how it is asked for, where a set can be read in several ways

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, in the order of the dialogues."""
        return tuple(question for dialogue in self.dialogues for question in dialogue.questions)
