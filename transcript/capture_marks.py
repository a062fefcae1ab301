"""What the record's marks say about a source's events: read again when the capture state is lost."""

from dataclasses import dataclass, field

from transcript.log import Log


@dataclass(slots=True)
class Marked:
    """The marks of one source, folded: events abandoned and rewound that were not restored, and how many marks."""

    abandoned: list[str] = field(default_factory=list)
    rewound: dict[str, list[str]] = field(default_factory=dict)
    marks: int = 0


def fold_marks(log: Log) -> dict[str, Marked]:
    """Return what stands marked, by source. Reads the whole record."""
    found: dict[str, Marked] = {}
    records: dict[str, str] = {}
    for event in log.read():
        source = event.native.get("source")
        if not isinstance(source, str):
            continue
        if event.type != "mark":
            records[event.id] = str(event.native.get("id", ""))
            continue
        marked = found.setdefault(source, Marked())
        events = [name for name in event.body.get("events", []) if isinstance(name, str)]
        mark = event.body.get("mark")
        if mark in ("abandoned", "rewound", "restored"):
            marked.marks += 1
        if mark == "abandoned":
            marked.abandoned += [name for name in events if name not in marked.abandoned]
        elif mark == "rewound":
            for name in events:
                if name in records:
                    marked.rewound.setdefault(records[name], []).append(name)
        elif mark == "restored":
            back = set(events)
            marked.abandoned = [name for name in marked.abandoned if name not in back]
            marked.rewound = {
                record: kept
                for record, names in marked.rewound.items()
                if (kept := [name for name in names if name not in back])
            }
    return found
