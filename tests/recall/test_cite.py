"""`recall cite`: sentences of a draft held against the record."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.project import exchanges

from recall.cite import sentences
from recall.cli.app import App
from recall.cli.group import run
from transcript.log import Log

TALK = (
    ("Which port does the pelican gate use?", "The pelican gate listens on port 8713, behind the heron proxy."),
    ("Why did the import fail?", "The nightly import failed because `load_rows` held the lock on orders.db for 40 s."),
    ("And the fix?", "I moved the commit out of the loop in `load_rows`; the import now takes 3 minutes."),
    ("How do we deploy?", "Deploys run through `make release`; the tag must be signed, and Friday is excluded."),
    ("Which database for sessions?", "Sessions stay in Redis, because Postgres was too slow under the load test."),
    ("Please never log the customer's email address.", "Understood: `mask_email` is called before every log line now."),
    ("What does the retry do?", "The client retries 5 times with exponential backoff, starting at 200 ms."),
    ("Is the cache shared?", "The thumbnail cache is not shared between workers; each worker has its own folder."),
    ("Which linter?", "We use ruff with line length 100; black was removed in January."),
    ("What about Windows?", "Windows is not supported: the socket code needs AF_UNIX."),
    ("And the review?", "Review of #231: split `BillingService` into two classes and add tests for refunds."),
    ("How big may an upload be?", "Uploads above 25 MB are rejected with status 413 by the gateway."),
    ("Where are secrets?", "Secrets live in Vault under kv/shop; nothing is kept in environment files."),
    ("Which time zone do reports use?", "Reports are rendered in UTC, and the browser converts them to local time."),
    ("Feature flags?", "The flag `new_checkout` is enabled for 10 % of the users since Tuesday."),
    ("Who owns the mobile app?", "The mobile app is owned by the team in Lisbon; Ana Duarte approves its releases."),
    ("Why so slow?", "The queue is slow since each message is acknowledged alone; batching 50 of them helps."),
    ("How do we name branches?", "Branches are named after the ticket, such as SHOP-512-short-title."),
)  # fmt: skip
# A sentence of the draft, and a word of the record's statement that supports it; "" where none does.
DRAFT = (
    ("The pelican gate sits behind the heron proxy and listens on port 8713.", "8713"),
    ("The nightly import failed because `load_rows` kept a lock on orders.db.", "40 s"),
    ("The fix moved the commit out of the loop in `load_rows`.", "3 minutes"),
    ("A release is deployed with `make release`, and its tag must be signed.", "Friday"),
    ("Sessions are kept in Redis because Postgres was too slow in the load test.", "Redis"),
    ("Before each log line `mask_email` is called.", "mask_email"),
    ("The client retries 5 times with exponential backoff.", "backoff"),
    ("The thumbnail cache is not shared between the workers.", "thumbnail"),
    ("Our linter is ruff with a line length of 100.", "ruff"),
    ("Windows is not supported, because the socket code needs AF_UNIX.", "AF_UNIX"),
    ("The review of #231 wants `BillingService` split into two classes.", "refunds"),
    ("The gateway rejects uploads above 25 MB with status 413.", "413"),
    ("Secrets live in Vault under kv/shop.", "Vault"),
    ("Reports are rendered in UTC and converted to local time by the browser.", "UTC"),
    ("The flag `new_checkout` is enabled for 10 % of users.", "new_checkout"),
    ("Releases of the mobile app are approved by Ana Duarte.", "Lisbon"),
    ("Batching 50 messages helps the slow queue.", "batching"),
    ("A branch is named after its ticket, such as SHOP-512-short-title.", "SHOP-512"),
    ("The gateway rejects uploads above 50 MB with status 413.", ""),
    ("The nightly backup is copied to Frankfurt.", ""),
)
FALSE = (
    "The pelican gate listens on port 8714.",
    "The thumbnail cache is shared between workers.",
    "Windows is supported, because the socket code needs AF_UNIX.",
    "The flag `new_checkout` is disabled for 10 % of the users.",
    "Sessions stay in Memcached, because Postgres was too slow under the load test.",
    "Uploads above 25 MB are accepted with status 200 by the gateway.",
    "Releases of the mobile app are approved by Rui Costa.",
    "The client retries 5 times with `LinearBackoff`.",
    "Deploys run through `make ship`; the tag must be signed.",
    "The team chose Kotlin for the scheduler.",
    "The tag must not be signed for deploys through `make release`.",
)


AS_ANA = ("--actor", "ana", "--as", "human")


@pytest.fixture
def project(indexed: Callable[..., Path], request: pytest.FixtureRequest) -> Path:
    return indexed(exchanges(TALK), real_model="real_model" in request.fixturenames)


@pytest.fixture
def real_model() -> None:
    """The shipped model makes the vectors."""


def cited(capsys: Any, draft: Path, *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["cite", str(draft), "--json", *words]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def written(folder: Path, lines: tuple[str, ...]) -> Path:
    draft = folder / "draft.md"
    draft.write_text("# What we know\n\n" + " ".join(lines) + "\n", encoding="utf-8")
    return draft


def check_draft(found: list[dict[str, Any]]) -> None:
    assert [row["text"] for row in found] == [text for text, _ in DRAFT]
    pairs = list(zip(found, (word for _, word in DRAFT), strict=True))
    wrong = [row for row, word in pairs if word and not (row["verdict"] == "supported" and word in row["passage"])]
    assert sum(bool(word) for _, word in DRAFT) == 18
    assert wrong == []
    assert {row["verdict"] for row, word in pairs if not word} <= {"unsupported", "contradicted"}


def test_a_draft_of_twenty_sentences_gets_the_right_pointers_by_words(project: Path, capsys: Any) -> None:
    check_draft(cited(capsys, written(project, tuple(text for text, _ in DRAFT)), "--words-only"))


@pytest.mark.model
def test_the_same_with_the_shipped_model(real_model: None, project: Path, capsys: Any) -> None:
    check_draft(cited(capsys, written(project, tuple(text for text, _ in DRAFT))))


@pytest.mark.parametrize("text", FALSE)
def test_a_changed_number_name_denial_or_an_unknown_subject_is_not_supported(
    project: Path, capsys: Any, text: str
) -> None:
    (row,) = cited(capsys, written(project, (text,)), "--words-only")

    assert row["verdict"] in ("unsupported", "contradicted"), row


def test_the_cited_draft_is_the_draft_with_pointers_behind_its_sentences(project: Path, capsys: Any) -> None:
    draft = project / "notes.md"
    text = (
        "# Port 8713\n\n- The pelican gate listens on port 8713. Nobody knows who chose it.\n"
        "- [ ] ask Ana\n\n```sh\nmake release  # Deploys run through it.\n```\n\n| a | b |\n|---|---|\n"
    )
    draft.write_text(text, encoding="utf-8")
    capsys.readouterr()

    assert run(["cite", str(draft), "--words-only", "-o", str(project / "cited.md")]) == 0

    told = capsys.readouterr()
    cited_text = (project / "cited.md").read_text(encoding="utf-8")
    pointer = cited_text.split("port 8713. [", 1)[1].split("]", 1)[0]
    assert cited_text.replace(f" [{pointer}]", "") == text
    assert told.out == ""
    assert "line 3: Nobody knows who chose it." in told.err
    assert run(["show", pointer]) == 0
    assert "heron proxy" in capsys.readouterr().out


def test_a_reason_with_a_no_in_it_does_not_deny_the_decision_it_is_given_for(project: Path, capsys: Any) -> None:
    assert run(["decide", "Use SQLite for the index", "--why", "one file, no server", *AS_ANA]) == 0
    assert run(["index", "--words-only"]) == 0
    said = "We use SQLite for the index."
    denied = "We do not use SQLite for the index."

    supported, contradicted = cited(capsys, written(project, (said, denied)), "--words-only")

    assert (supported["verdict"], contradicted["verdict"]) == ("supported", "contradicted")


def test_strict_fails_where_a_sentence_is_unsupported(project: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["cite", str(written(project, FALSE[:1])), "--strict"])

    assert ended.value.code == 1


def test_one_row_of_the_ledger_says_that_a_draft_was_cited(project: Path, capsys: Any) -> None:
    rows = cited(capsys, written(project, tuple(text for text, _ in DRAFT[:4])))

    ledger = [event for event in Log(App(os.environ, project).workspace()).read() if event.type == "recall"]
    assert [event.body["mode"] for event in ledger] == ["posthoc"]
    assert {item["pointer"] for item in ledger[0].body["items"]} == {row["pointer"] for row in rows}
    assert {row["mode"] for row in rows} == {"posthoc"}


def test_what_is_no_text_is_refused(project: Path, capsys: Any) -> None:
    (project / "logo.png").write_bytes(b"\x89PNG\xff\xfe")

    assert run(["cite", "logo.png"]) == 1

    assert "logo.png is no UTF-8 text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It uses v1.2.3, e.g. in CI. Then 0.5 s passed.", ["It uses v1.2.3, e.g. in CI.", "Then 0.5 s passed."]),
        ("# Title\ntext below", ["text below"]),
        ("- a point\n- another\n  goes on", ["a point", "another\n  goes on"]),
        ("1. first\n2) second", ["first", "second"]),
        ("> quoted words.", ["> quoted words."]),
        ("```\nno. no.\n```\nyes", ["yes"]),
        ("~~~py\n```\nno\n~~~\nyes", ["yes"]),
        ("    indented code\n\nyes", ["yes"]),
        ("|a|b|\n|-|-|\n", []),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        ("端口是8713。代理在前面。", ["端口是8713。", "代理在前面。"]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_sentences_of_markdown(draft: str, expected: list[str]) -> None:
    found = list(sentences(draft))

    assert [sentence.text for sentence in found] == expected
    assert [draft[sentence.start : sentence.end] for sentence in found] == expected
