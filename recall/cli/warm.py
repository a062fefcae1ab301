"""Apps for a program that answers many calls: settings are read anew for each, one loaded model is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall.cli.app import App

if TYPE_CHECKING:
    from indexer.embedder import Embedder


class Keeper:
    """Gives every call an app of its own; by_agent is whether an agent asks whatever the environment says."""

    def __init__(self, first: App, *, by_agent: bool = False) -> None:
        self._first, self._by_agent = first, by_agent
        self._models: dict[str, Embedder | None] = {}

    def app(self) -> App:
        """The app of one call."""
        return _Warm(self._first, self._models, by_agent=self._by_agent)


class _Warm(App):
    def __init__(self, first: App, models: dict[str, Embedder | None], *, by_agent: bool) -> None:
        super().__init__(first.env, first.cwd, first.data, first.models)
        self.by_agent = by_agent
        self._loaded = models

    def embedder(self, threads: int = 0) -> Embedder | None:
        """The model that the settings name, loaded once; a missing one is looked for again."""
        name = self.config.index().model
        if self._loaded.get(name) is None:
            self._loaded[name] = super().embedder(threads)
        return self._loaded[name]
