"""Lets a name stand for something else for a while: for faults that are no state of files."""


class Swapped:
    """A context in which a name of a module or class stands for something else."""

    def __init__(self, owner: object, name: str, new: object) -> None:
        self._owner, self._name, self._new = owner, name, new
        self._old = vars(owner)[name]

    def __enter__(self) -> None:
        setattr(self._owner, self._name, self._new)

    def __exit__(self, *_: object) -> None:
        setattr(self._owner, self._name, self._old)
