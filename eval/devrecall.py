"""Runs labelled queries over real sessions through the shipped engine, beside plain baselines, in one process.

Each query is asked with its own `now` (the clock, and the end of what may be found) and its own session.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from eval.corpus import Corpus, prepare
from eval.devrecall_report import DevRecallReport, Line, Setting
from eval.engines import EngineResult, evaluate
from eval.labels import LabelledQuery, LabelSet, load
from eval.lineup import OURS, Variant, lineup, search_of
from eval.machine import machine
from eval.scorecard import scorecard
from eval.vector_cache import CachedEmbedder
from indexer.embedder import Embedder
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.settings import Settings, settings_hash
from transcript.log import Log


def run(
    data: Path,
    transcripts: Path,
    cache: Path,
    *,
    embedder: Embedder | None,
    index_settings: IndexSettings,
    settings: Settings,
    baselines: bool = True,
    variants: Mapping[str, Settings] | None = None,
    samples: int = 2000,
    only: frozenset[str] = frozenset(),
    fresh: bool = False,
    progress: Callable[[str], None] | None = None,
) -> DevRecallReport:
    """Evaluate data/queries.jsonl over transcripts; only names query ids or types, all by default.

    `variants` are other settings, asked besides by their names. The corpus, its index and its vectors stay in cache,
    so that a second run takes seconds. Without an embedder the run is one of words.
    """
    tell = progress or (lambda _: None)
    started = time.perf_counter()
    labels = load(data)
    corpus = prepare(
        transcripts,
        cache,
        embedder=embedder,
        settings=index_settings,
        now=datetime.now(UTC),
        progress=tell,
        fresh=fresh,
    )
    return evaluate_corpus(
        corpus,
        labels,
        embedder=embedder,
        settings=settings,
        baselines=baselines,
        variants=variants or {},
        samples=samples,
        only=only,
        started=started,
        progress=tell,
    )


def evaluate_corpus(
    corpus: Corpus,
    labels: LabelSet,
    *,
    embedder: Embedder | None,
    settings: Settings,
    baselines: bool,
    variants: Mapping[str, Settings],
    samples: int,
    only: frozenset[str],
    started: float,
    progress: Callable[[str], None],
) -> DevRecallReport:
    """Ask every query of every engine over one open index."""
    queries = [q for q in labels.queries if not only or q.id in only or q.type in only]
    record = corpus.record_map(labels.spans, labels.sha256)
    count_tokens = TokenCounter()
    with Store.open(corpus.workspace.index_path) as store:
        cached = None if embedder is None else CachedEmbedder(embedder, corpus.cache / "vectors")
        search = search_of(store, cached)
        asked = {name: Variant(one) for name, one in {OURS: settings, **variants}.items()}
        engines = lineup(store, search, asked, count_tokens, words=not variants, baselines=baselines)
        lines = []
        for name, engine in engines.items():
            progress(f"asking {name}")
            result = evaluate(name, engine, queries, record, time.perf_counter)
            lines.append(_line(result, samples))
        meta = store.meta()
    lost = {q.id for q in queries if q.evidence and len(record.missing(q.evidence)) == len(q.evidence)}
    setting = Setting(
        data_sha256=labels.sha256,
        record_head=Log(corpus.workspace).head().hash,
        settings_hash=settings_hash(settings),
        index_config=meta.config_hash,
        model=meta.model or "none",
        tokenizer=f"cl100k ({type(count_tokens).__name__})",
        chunks=meta.n_chunks,
        vectors=meta.n_vectors if embedder is not None else 0,
        queries=len(queries),
        answerable=_answerable(queries),
        missing_evidence=tuple(sorted(lost)),
        machine=machine(),
        seconds=time.perf_counter() - started,
    )
    return DevRecallReport(setting, tuple(lines))


def _line(result: EngineResult, samples: int) -> Line:
    return Line(result, scorecard(result.ranked, samples=samples), scorecard(result.injected, samples=samples))


def _answerable(queries: list[LabelledQuery]) -> int:
    return sum(bool(query.evidence) for query in queries)
