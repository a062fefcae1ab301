"""Credentials are masked by kind, the same one always alike, and ordinary text is left alone."""

import pytest

from transcript.secret_shapes import SHAPES
from transcript.secrets import find, mask, veil

KEY = b"k" * 32
A = "FAKEfake0123456789FAKEfake0123456789FAKEfake0123456789"
HEX = "0123456789abcdef" * 8
# One made-up value for each kind, put together so that no scanner takes this file for a leak.
SAMPLES = {
    "private-key": "-----BEGIN RSA PRIVATE " + "KEY-----\nRkFLRQ==\n-----END RSA PRIVATE KEY-----",
    "putty-key": "PuTTY-User-Key-File-2: ssh-rsa\nabc\nPrivate-MAC: " + HEX[:40],
    "age-key": "AGE-SECRET-KEY-1" + A[:40].upper(),
    "anthropic-key": "sk-ant-" + "api03-" + A[:30],
    "openrouter-key": "sk-or-" + "v1-" + HEX[:40],
    "openai-key": "sk-" + "proj-" + A[:40],
    "stripe-key": "sk_live_" + A[:24],
    "github-token": "ghp_" + A[:36],
    "gitlab-token": "glpat-" + A[:20],
    "slack-token": "xoxb-" + "123456789012-" + A[:24],
    "slack-webhook": "https://hooks.slack.com/services/" + "T00000000/B00000000/" + A[:24],
    "discord-webhook": "https://discord.com/api/webhooks/" + "123456789/" + A[:40],
    "teams-webhook": "https://acme.webhook.office.com/" + "webhookb2/" + A[:30],
    "aws-key-id": "AKIA" + "FAKE0123FAKE0123",
    "aws-secret": "aws_secret_access_key = " + A[:40],
    "google-key": "AIza" + A[:35],
    "google-oauth": "ya29." + A[:40],
    "azure-key": "AccountKey=" + A[:44] + "==",
    "azure-sas": "https://x.example/?sv=1&sig=" + A[:44],
    "npm-token": "npm_" + A[:36],
    "npm-auth": "//registry.example/:_authToken=" + HEX[:30],
    "pypi-token": "pypi-" + A + A,
    "rubygems-token": "rubygems_" + HEX[:48],
    "crates-token": "cio" + A[:32],
    "docker-token": "dckr_pat_" + A[:27],
    "huggingface-token": "hf_" + A[:34],
    "replicate-token": "r8_" + A[:37],
    "groq-key": "gsk_" + A[:52],
    "xai-key": "xai-" + A + A[:10],
    "perplexity-key": "pplx-" + HEX[:48],
    "sendgrid-key": "SG." + A[:22] + "." + A[:43],
    "mailgun-key": "key-" + HEX[:32],
    "mailchimp-key": HEX[:32] + "-us12",
    "twilio-key": "SK" + HEX[:32],
    "telegram-token": "123456789:AA" + A[:33],
    "discord-token": "M" + A[:24] + ".Gabcde." + A[:30],
    "digitalocean-token": "dop_v1_" + HEX[:64],
    "shopify-token": "shpat_" + HEX[:32],
    "databricks-token": "dapi" + HEX[:32],
    "vault-token": "hvs." + A[:24],
    "terraform-token": A[:14] + ".atlasv1." + A + A[:13],
    "atlassian-token": "ATATT3" + A,
    "linear-key": "lin_api_" + A[:40],
    "notion-token": "ntn_" + A[:46],
    "sentry-token": "sntrys_" + A[:40],
    "grafana-token": "glsa_" + A[:32] + "_" + HEX[:8],
    "newrelic-key": "NRAK-" + A[:27].upper(),
    "postman-key": "PMAK-" + HEX[:24] + "-" + HEX[:34],
    "figma-token": "figd_" + A[:40],
    "supabase-key": "sbp_" + HEX[:40],
    "planetscale-key": "pscale_tkn_" + A[:40],
    "flyio-token": "fo1_" + A[:40],
    "doppler-token": "dp.pt." + A[:43],
    "cloudflare-key": "v1.0-" + HEX[:24] + "-" + HEX[:120],
    "tailscale-key": "tskey-auth-" + A[:12] + "-" + A[:24],
    "jwt": "eyJ" + A[:20] + ".eyJ" + A[:20] + "." + A[:20],
    "url-password": "postgres://app:FAKE-PASSWORD-1@192.0.2.7:5432/main",
    "authorization": "Authorization: Basic " + A[:24],
    "bearer": "bearer " + A[:30],
    "cookie": "Set-Cookie: sid=" + A[:30],
    "curl-password": "curl -u deploy:hunter2hunter2 https://x.example",
}


def test_every_shape_has_a_sample():
    assert {shape.kind for shape in SHAPES} == SAMPLES.keys()
    assert len(SAMPLES) >= 30


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_a_credential_is_masked_by_its_kind_and_the_rest_kept(kind):
    text = f"before {SAMPLES[kind]} after"

    masked, count = mask(text, KEY)

    assert count == 1
    assert f"[secret:{kind}:" in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after") or kind in ("curl-password", "private-key")
    hidden = [text[s.start : s.end] for s in find(text)]
    assert hidden
    assert all(value not in masked for value in hidden)


@pytest.mark.parametrize(
    "text",
    [
        'password = "Tr0ub4dor&3xyz"',
        "DB_PASSWORD=p4ssw0rd!123",
        "api_key: 'a8f3k2j9d0s7x6c5'",
        "client-secret=Zx9!kq27Lm",
    ],
)
def test_a_value_given_to_a_telling_name_is_masked(text):
    assert mask(text, KEY)[1] == 1


@pytest.mark.parametrize(
    "text",
    [
        "token: string",
        "password: getPassword()",
        "--- PASS: TestGetGitAuthorFromRepo/both_set_locally (0.01s)",
        "const apiKey = process.env.API_KEY",
        "secret = os.environ['SECRET']",
        "tokens: 128000",
        "max_tokens=4096",
        "the key: session_id is kept per worktree",
        "access_key=${ACCESS_KEY}",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "https://example.com/path:8080@tag",
        "git@github.com:owner/repo.git",
        "task-management-of-the-whole-thing",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert mask(text, KEY) == (text, 0)


def test_the_same_secret_has_the_same_mark_under_one_key_and_another_under_another():
    token = SAMPLES["github-token"]

    once, again, other = mask(f"a {token}", KEY)[0], mask(f"b {token}", KEY)[0], mask(f"a {token}", b"x" * 32)[0]

    assert once[2:] == again[2:]
    assert once != other


def test_masking_twice_changes_nothing_more():
    text = " ".join(SAMPLES.values())
    masked, _ = mask(text, KEY)

    assert mask(masked, KEY) == (masked, 0)


def test_a_key_cut_off_before_its_end_is_masked_to_the_end():
    masked, _ = mask("x -----BEGIN PRIVATE " + "KEY-----\nRkFLRQ==\nQUJD", KEY)

    assert "RkFLRQ" not in masked
    assert "QUJD" not in masked


def test_a_veiled_secret_tells_its_kind_alone_and_is_never_masked_again():
    text = "key: " + SAMPLES["github-token"] + ", password = hunter2hunter2, the rest stays"

    veiled = veil(text)

    assert veiled == "key: [secret:github-token], password = [secret:assigned], the rest stays"
    assert veil(veiled) == veiled
    assert mask(veiled, KEY) == (veiled, 0)
