# ruff: noqa: E501 (one pattern a line)
"""The forms of known credentials, one a line: kind, what must occur for the pattern to be tried, the pattern."""

import re
from functools import cached_property


class Shape:
    """One kind of credential. `hints` are lower case; the pattern is only tried where one of them occurs."""

    def __init__(self, kind: str, hints: str, source: str) -> None:
        self.kind, self.hints, self._source = kind, tuple(hints.split()), source

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled at first use; group 1, where there is one, is the secret, else the whole match."""
        return re.compile(self._source)


_B = r"(?<![A-Za-z0-9_-])"  # nothing of a longer word before it
_E = r"(?![A-Za-z0-9_-])"

SHAPES = (
    Shape("private-key", "private", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
           r"(?:[\s\S]{0,20000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:\\n|[A-Za-z0-9+/=:,\s-]){0,20000})"),
    Shape("putty-key", "putty-user-key-file", r"PuTTY-User-Key-File-\d:[\s\S]{0,20000}?Private-MAC: ?[0-9a-f]+"),
    Shape("age-key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Za-z]{20,}"),
    Shape("anthropic-key", "sk-ant-", _B + r"sk-ant-[A-Za-z0-9_-]{10,}"),
    Shape("openrouter-key", "sk-or-", _B + r"sk-or-[A-Za-z0-9_-]{16,}"),
    Shape("openai-key", "sk-", _B + r"sk-(?!ant-|or-)(?:proj-|svcacct-|admin-|live-|test-)?[A-Za-z0-9_-]*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*"),
    Shape("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ whsec_", r"(?<![A-Za-z0-9])(?:(?:sk|rk|pk)_(?:live|test)|whsec)_[A-Za-z0-9]{10,}"),
    Shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", _B + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    Shape("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat-", _B + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_.-]{16,}"),
    Shape("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe xapp-", _B + r"(?:xox[abeoprs](?:\.xox[bp])?-|xapp-)[A-Za-z0-9-]{10,}"),
    Shape("slack-webhook", "hooks.slack.com", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{16,}"),
    Shape("discord-webhook", "discord", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]{20,}"),
    Shape("teams-webhook", "webhook.office.com", r"https://[a-z0-9.-]*webhook\.office\.com/[^\s\"'<>)]{20,}"),
    Shape("aws-key-id", "akia asia abia acca", _B + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _E),
    Shape("aws-secret", "aws", r"(?i:aws_?-?(?:secret|session)[a-z_ -]{0,24})[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9/+=]{30,})"),
    Shape("google-key", "aiza", _B + r"AIza[A-Za-z0-9_-]{30,}"),
    Shape("google-oauth", "ya29. gocspx-", _B + r"(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})"),
    Shape("azure-key", "accountkey sharedaccesskey sharedaccesssignature", r"(?i:AccountKey|SharedAccessKey|SharedAccessSignature)=([A-Za-z0-9+/=%&_.~-]{20,})"),
    Shape("azure-sas", "sig=", r"[?&]sig=([A-Za-z0-9%+/=]{30,})"),
    Shape("npm-token", "npm_", _B + r"npm_[A-Za-z0-9]{30,}"),
    Shape("npm-auth", "_authtoken _auth", r"(?i:_auth(?:Token)?)\s*=\s*[\"']?([A-Za-z0-9+/=_.-]{16,})"),
    Shape("pypi-token", "pypi-", _B + r"pypi-[A-Za-z0-9_-]{50,}"),
    Shape("rubygems-token", "rubygems_", _B + r"rubygems_[a-f0-9]{40,}"),
    Shape("crates-token", "cio", _B + r"cio[A-Za-z0-9]{32}" + _E),
    Shape("docker-token", "dckr_", _B + r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    Shape("huggingface-token", "hf_", _B + r"hf_[A-Za-z0-9]{30,}"),
    Shape("replicate-token", "r8_", _B + r"r8_[A-Za-z0-9]{30,}"),
    Shape("groq-key", "gsk_", _B + r"gsk_[A-Za-z0-9]{40,}"),
    Shape("xai-key", "xai-", _B + r"xai-[A-Za-z0-9]{40,}"),
    Shape("perplexity-key", "pplx-", _B + r"pplx-[A-Za-z0-9]{32,}"),
    Shape("sendgrid-key", "sg.", _B + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    Shape("mailgun-key", "key-", _B + r"key-[0-9a-f]{32}" + _E),
    Shape("mailchimp-key", "-us", _B + r"[0-9a-f]{32}-us\d{1,2}" + _E),
    Shape("twilio-key", "sk ac", _B + r"(?:SK|AC)[0-9a-f]{32}" + _E),
    Shape("telegram-token", ":aa", _B + r"\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    Shape("discord-token", ".", _B + r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    Shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _B + r"do[opr]_v1_[a-f0-9]{40,}"),
    Shape("shopify-token", "shpat_ shpca_ shppa_ shpss_", _B + r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    Shape("databricks-token", "dapi", _B + r"dapi[a-f0-9]{32}(?:-\d)?"),
    Shape("vault-token", "hvs. hvb. hvr.", _B + r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    Shape("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    Shape("atlassian-token", "atatt3", _B + r"ATATT3[A-Za-z0-9_=-]{40,}"),
    Shape("linear-key", "lin_api_ lin_oauth_", _B + r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    Shape("notion-token", "ntn_ secret_", _B + r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})" + _E),
    Shape("sentry-token", "sntrys_ sntryu_", _B + r"sntry[su]_[A-Za-z0-9+/=_-]{30,}"),
    Shape("grafana-token", "glsa_ glc_", _B + r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    Shape("newrelic-key", "nrak- nrjs-", _B + r"NR(?:AK|JS)-[A-Za-z0-9]{19,}"),
    Shape("postman-key", "pmak-", _B + r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Shape("figma-token", "figd_", _B + r"figd_[A-Za-z0-9_-]{30,}"),
    Shape("supabase-key", "sbp_ sb_secret_", _B + r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})"),
    Shape("planetscale-key", "pscale_", _B + r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
    Shape("flyio-token", "fo1_ fm1r_ fm2_", _B + r"(?:fo1_[A-Za-z0-9_-]{30,}|fm1r_[A-Za-z0-9+/=]{40,}|fm2_[A-Za-z0-9+/=]{40,})"),
    Shape("doppler-token", "dp.", _B + r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,}"),
    Shape("cloudflare-key", "v1.0-", _B + r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    Shape("tailscale-key", "tskey-", _B + r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]+"),
    Shape("jwt", "eyj", _B + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"),
    Shape("url-password", "://", r"(?<=://)[^\s/:@\"'<>`]{0,256}:([^\s/@\"'<>`{}$]{3,256})@(?=[^\s/])"),
    Shape("authorization", "authorization", r"(?i:authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token|apikey|digest)?)\s+([A-Za-z0-9._~+/=-]{12,})"),
    Shape("bearer", "bearer", r"(?i:\bbearer)\s+([A-Za-z0-9._~+/-]{20,}=*)"),
    Shape("cookie", "cookie", r"(?i:\b(?:set-)?cookie[\"']?:\s*[\"']?)[A-Za-z0-9_.-]+=([^\s;\"']{16,})"),
    Shape("curl-password", "curl", r"(?:\s-u|\s--user)[ =][\"']?[^\s:\"']{1,64}:([^\s\"']{4,})"),
)  # fmt: skip
