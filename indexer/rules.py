"""Rules that a person laid down, and where the index notes that two of them name another value of one thing.

Rules are standing wishes and a person's recorded decisions, constraints and corrections. See `indexer.values`.
"""

from indexer.reader import Execute
from indexer.rows import BY_PERSON, CURATED, EXTERNAL, PROMPT, STATEMENT, STATEMENTS, TOOL_IDS, WISH, statement
from indexer.values import Stated, pairs, stated

Rules = dict[int, list[Stated]]  # chunk -> the values its rule names
LAID_DOWN = ("decision", "constraint", "correction")


def is_rule(kind: int, flags: int) -> bool:
    """Tell whether a pointer of this kind and with these flags is of a person's rule."""
    if kind == PROMPT:
        return bool(flags & WISH)
    return kind == CURATED and bool(flags & BY_PERSON) and not flags & EXTERNAL and statement(flags) in LAID_DOWN


def rules_sql(generation: int) -> str:
    """Return the SQL that selects (chunk, text) of every rule of a generation, in order."""
    numbers = ", ".join(str(STATEMENTS.index(name)) for name in LAID_DOWN)
    told = f"kind = {CURATED} AND flags & {BY_PERSON} AND NOT flags & {EXTERNAL} AND flags / {STATEMENT} % 16"
    return (
        f"SELECT id, plain_text(text) FROM chunk_{generation} WHERE id IN (SELECT chunk_id FROM pointer_{generation}"
        f" WHERE chunk_id < {TOOL_IDS} AND (kind = {PROMPT} AND flags & {WISH} OR {told} IN ({numbers}))) ORDER BY id"
    )


def add_rule(execute: Execute, generation: int, rules: Rules, chunk_id: int, text: str) -> None:
    """Compare a rule with those that are known, note the pairs whose values differ, and take it in among them."""
    values = stated(text)
    for other, held in rules.items():
        for pair in pairs(values, held) if other != chunk_id else ():
            (one, one_chunk), (two, two_chunk) = sorted(zip(pair, (chunk_id, other), strict=True), key=lambda v: v[1])
            sql = f"INSERT OR IGNORE INTO proposed_{generation} VALUES (?, ?, ?, ?)"
            execute(sql, (one, one_chunk, two, two_chunk))
    if values:
        rules[chunk_id] = values
