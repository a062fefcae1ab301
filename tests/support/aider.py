"""Builders of Aider's chat history, written as the program writes it."""

from pathlib import Path

from support.contract import ENVELOPE, PROMPT, REPLY, Contract

NAME = ".aider.chat.history.md"


class AiderHistory:
    """One history in the making."""

    def __init__(self) -> None:
        self.text = ""

    def chat(self, when: str = "2026-06-15 10:00:00") -> "AiderHistory":
        self.text += f"\n# aider chat started at {when}\n\n"
        return self

    def says(self, *lines: str) -> "AiderHistory":
        self.text += "".join(f"> {line}  \n" for line in lines)
        return self

    def user(self, prompt: str) -> "AiderHistory":
        self.text += "\n#### " + "  \n#### ".join(prompt.splitlines()) + "  \n"
        return self

    def assistant(self, answer: str) -> "AiderHistory":
        self.text += f"\n{answer}\n\n"
        return self

    def write(self, folder: Path) -> Path:
        """Write the file into a project and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / NAME
        path.write_text(self.text, encoding="utf-8")
        return path


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Write the chat of the contract into the project itself, the one place where Aider keeps it.

    The format has no ids, no place for an unknown record, and nothing that could inject.
    """
    history = AiderHistory().chat().says("Aider v0.86.2", ENVELOPE).user(PROMPT).assistant(REPLY)
    history.says("Applied edit to gate.toml")
    return Contract(history.write(Path(cwd)), frozenset(), "", injected=False)
