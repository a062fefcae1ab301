"""A reviewer as a program: answers `recall-review/1` from a table, late or with nonsense where the table says so.

    python reviewer.py TABLE.json [LOG.jsonl]

TABLE is an object: candidate text -> list of answers, one a round (verdict, target, findings, edits), or "late",
"nonsense", "silent", "long", "fails"; "*" stands for every other text. Every request and the environment's names go to
LOG, one JSON line each.
"""

import json
import os
import sys
import time


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    with open(sys.argv[1], encoding="utf-8") as file:
        table = json.load(file)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as log:
            seen = {"request": request, "names": sorted(os.environ), "home": os.environ.get("HOME", "")}
            log.write(json.dumps(seen | {"recall_home": os.environ.get("RECALL_HOME", "")}) + "\n")
    rounds = table.get(request["candidate"]["text"]) or table.get(f"round {request['round']}") or table["*"]
    chosen = rounds if isinstance(rounds, str) else rounds[min(request["round"], len(rounds)) - 1]
    if chosen == "late":
        time.sleep(600)
    elif chosen == "nonsense":
        print("I think it is fine.")
    elif chosen == "long":
        print("x" * (2 << 20))
    elif chosen == "fails":
        sys.exit(3)
    elif chosen != "silent":
        answer = {"protocol": "recall-review/1", "reviewer": "scripted", "verdict": "not_refuted", "findings": []}
        print(json.dumps(answer | chosen))


if __name__ == "__main__":
    main()
