"""What is compared as the same: look-alike letters, wide and styled ones, characters without a shape."""

import pytest

from transcript import secrets
from transcript.lookalike import compared, compared_places

SAME = {
    "Cyrillic among Latin": ("раураl and раyment_gateway", "paypal and payment_gateway"),
    "Cyrillic throughout": ("use сосо", "use coco"),
    "Greek": ("Βοx", "Box"),
    "wide": ("ｐｏｒｔ ８０８０", "port 8080"),
    "bold": ("𝗽𝗼𝗿𝘁 𝟴𝟬𝟴𝟬", "port 8080"),
    "small capitals": ("ᴘᴏʀᴛ", "port"),
    "joined": ("ﬁle", "file"),
    "without a shape": ("po\u200brt\u2060 80\u00ad80", "port 8080"),
    "turned": ("\u202eport\u202c", "port"),
    "hyphens": ("sk‑live", "sk-live"),
    "marks apart": ("cafe\u0301", "café"),
}
AS_IT_IS = (
    "plain ASCII, 8080",
    "мы используем Postgres и сор",
    "Ελληνικά νοικ",
    "Größe der Straße",
    "日本語のテキスト",
    "👩\u200d💻 x² ① ½ …",
    "می\u200cخواهم",
    "two\nlines\tand a tab",
)


@pytest.mark.parametrize(("written", "plain"), SAME.values(), ids=SAME)
def test_what_looks_the_same_is_compared_as_the_same(written: str, plain: str) -> None:
    assert compared(written) == plain
    assert compared(plain) == plain


@pytest.mark.parametrize("text", AS_IT_IS)
def test_other_writing_stays_as_it_is(text: str) -> None:
    assert compared_places(text) == (text, None)


def test_a_place_leads_back_to_what_was_written() -> None:
    written = "the \u200bﬁrst po\u200brt\u200b is cafe\u0301 ８０８０"

    plain, places = compared_places(written)

    assert plain == "the first port is café 8080"
    assert places is not None
    assert len(places) == len(plain)
    for word in ("port", "8080"):
        start = plain.index(word)
        assert compared(written[places[start] : places[start + len(word) - 1] + 1]) == word


def test_long_runs_are_read_in_one_pass() -> None:
    for run in ("a" * 200_000 + "а", "\u200d" * 100_000 + "é", "а" * 100_000, "e\u0301" * 50_000):
        assert compared(compared(run)) == compared(run)


TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize(
    "hidden",
    [
        TOKEN.replace("16C7", "16C\u200b7"),
        TOKEN.replace("C", "С").replace("e", "е"),
        "".join(chr(ord(c) + 0xFEE0) for c in TOKEN),
        TOKEN.replace("_", "\u00ad_"),
        TOKEN.replace("1", "1\x00"),
    ],
    ids=["zero width", "Cyrillic", "wide", "soft hyphen", "null"],
)
def test_a_hidden_credential_is_found_whole_and_masked_as_the_plain_one(hidden: str) -> None:
    text = f"the token is {hidden} since March"

    (found,) = secrets.find(text)
    masked, count = secrets.mask(text, b"k" * 32)

    assert (text[found.start : found.end], found.kind, count) == (hidden, "github-token", 1)
    assert masked == secrets.mask(f"the token is {TOKEN} since March", b"k" * 32)[0]


def test_a_credential_behind_a_character_without_a_shape_is_found_as_well() -> None:
    assert [one.kind for one in secrets.find(f"key\u200b{TOKEN}")] == ["github-token"]
