"""Which statements cannot stand beside each other: forty pairs, and what happens to them when both are proposed."""

import itertools

import pytest

from consolidation import contradiction
from consolidation.contradiction import difference
from consolidation.model import folded
from consolidation.subject import same_subject, subject

CONTRADICTING = (
    ("The API listens on port 8080.", "The API listens on port 8443."),
    ("Failed jobs are retried 3 times.", "Failed jobs are retried 5 times."),
    ("The session cookie expires after 30 minutes.", "The session cookie now expires after 45 minutes."),
    ("We build the images with Go 1.21.", "We build the images with Go 1.23."),
    ("Sessions are kept in Redis.", "Sessions are kept in Postgres."),
    ("The settings live in `config/app.toml`.", "The settings live in `config/server.toml`."),
    ("Releases are made by `make ship`.", "Releases are made by `just release`."),
    ("The default branch is `master`.", "The default branch is `main`."),
    ("Set `LOG_LEVEL` in the staging environment.", "Set `APP_LOG_LEVEL` in the staging environment."),
    ("The thumbnail cache is shared between workers.", "The thumbnail cache is not shared between workers."),
    ("Windows is supported by the socket code.", "Windows isn't supported by the socket code."),
    ("Always squash commits before merging.", "Never squash commits before merging."),
    ("The client needs a token for uploads.", "The client doesn't need a token for uploads."),
    ("Telemetry is enabled by default in the CLI.", "Telemetry is disabled by default in the CLI."),
    ("The index is built before the capture runs.", "The index is built after the capture runs."),
    ("The job keeps the oldest snapshot.", "The job keeps the newest snapshot."),
    ("The review field is required in the form.", "The review field is optional in the form."),
    ("Start function names with `x_`.", "From now on, begin function names with `fn_`."),
    ("Use `@log` on every public method.", "Use `@trace` on every public method."),
    ("The importer is started by cron at 02:00 each night.", "The importer is started by cron at 04:30 each night."),
)
COMPATIBLE = (
    ("The API listens on port 8080.", "The worker writes its log to port 8443."),
    ("Failed jobs are retried 3 times.", "The nightly import takes 5 minutes."),
    ("Added field `total` to `Order`.", "Also added field `currency` to `Order`."),
    ("Sessions are kept in Redis.", "Baskets are kept in Postgres."),
    ("`parse_order` is hidden from the listing.", "`parse_basket` is called by the listing."),
    ("Use `@log` on every public method.", "Also use `@trace` on every public method."),
    ("Start function names with `x_`.", "End function names with `_x`."),
    ("Start function argument names with `a_`.", "Start function names with `x_`."),
    ("Windows is supported.", "Windows is not supported if AF_UNIX is missing."),
    ("The cache is shared between workers.", "The log is not shared between tenants."),
    ("Uploads are rejected above 25 MB.", "Uploads are stored in the bucket for 25 days."),
    ("The gateway retries failed requests.", "The gateway does not log request bodies."),
    ("Telemetry is enabled by default.", "Colours are disabled by default."),
    ("Branches are named after the ticket.", "Tags are named after the release."),
    ("The index is built before the capture runs.", "The report is sent after the capture runs."),
    ("Never commit secrets.", "Always commit the lock file."),
    ("The token expires after 30 minutes.", "The invitation expires after 7 days."),
    ("We use ruff for linting.", "We use mypy for types."),
    ("The import failed because the disk was full.", "The export failed because the network was down."),
    ("Deploys run on Monday.", "Deploys run on Monday, and the tag must be signed."),
)


@pytest.mark.parametrize(("one", "other"), CONTRADICTING)
def test_statements_that_cannot_both_hold_are_found_from_either_side(one: str, other: str) -> None:
    for a, b in itertools.permutations((one, other)):
        found = difference(a, b, rules=True)
        assert found is not None, (a, b)
        assert found.sure, (a, b, found)


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_statements_that_can_both_hold_are_left_alone(one: str, other: str) -> None:
    for a, b in itertools.permutations((one, other)):
        found = difference(a, b, rules=True)
        assert found is None or not found.sure, (a, b, found)


def test_a_difference_names_both_values_in_the_order_asked() -> None:
    found = difference("The proxy listens on 80.", "The proxy listens on 443 since the move.")

    assert found is not None
    assert (found.how, found.detail) == ("number", "80 | 443")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gateway listens on port 8080.", "The gаtewаy listens on роrt 9090."),
        ("The gateway listens on port 8080.", "The gate\u200bway listens on po\u200brt 9090."),
        ("The gateway listens on port 8080.", "The ｇａｔｅｗａｙ listens on port ９０９０."),
        ("The importer writes to /var/spool on start.", "The impоrtеr does not write to /var/spool on start."),
    ],
    ids=["Cyrillic", "zero width", "wide", "denied"],
)
def test_letters_that_only_look_alike_hide_no_contradiction(one: str, other: str) -> None:
    for a, b in itertools.permutations((one, other)):
        found = difference(a, b)
        assert found is not None
        assert found.sure


def test_what_differs_in_look_alikes_alone_is_one_statement_and_keeps_its_letters() -> None:
    plain, hidden = "Use `coco_loader` for раyments.", "Use `сосо_loаder` for раyments."

    assert difference(plain, hidden) is None
    assert folded(plain) == folded(hidden)
    assert same_subject(plain, hidden)
    assert subject(hidden)[0] == "сосо_loаder"


def test_what_is_twice_turned_is_the_same() -> None:
    assert difference("The flag is not enabled in tests.", "The flag is disabled in tests.") is None


def test_of_long_texts_a_claim_is_held_against_those_that_share_its_words_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The work grows with the length of a text, not with its square, and what contradicts is found in it still."""
    looked: list[str] = []
    differ = contradiction._differ
    monkeypatch.setattr(contradiction, "_differ", lambda one, other: looked.append(one) or differ(one, other))
    names = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ava", "ilo", "ubi", "eno", "oda")]
    short, long = (
        "\n\n".join(f"The {name} service of the shop listens on port {8000 + at}." for at, name in enumerate(names[:n]))
        for n in (30, 60)
    )
    found = []
    for text in (short, long):
        found.append(contradiction.difference(text.replace("8029", "9029"), text))
        found.append(contradiction.difference("The bava service sleeps.", text))

    assert [one is not None and one.detail for one in found] == ["9029 | 8029", False, "9029 | 8029", False]
    assert len(looked) <= 2 * contradiction.MOST_ALIKE * (30 + 60 + 2)
