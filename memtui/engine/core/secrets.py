"""Keys and passwords in a text: where they are, what kind they are, and the text without them."""

from __future__ import annotations

import re
from dataclasses import dataclass

MARK = "[REDACTED]"

MASKED = re.compile(r"\[(?:[A-Z]+_)*REDACTED\]")
"""What a program that masked a text left in it; ours and openclaw-mem-engine's markers."""


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret: its kind and the characters it takes."""

    kind: str
    start: int
    end: int


_VENDORS: tuple[tuple[str, str, str], ...] = (
    ("API key", "jina_", r"jina_[A-Za-z0-9_-]{24,}"),
    ("API key", "tvly-", r"tvly-[A-Za-z0-9-]{16,}"),
    ("API key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    ("API key", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("API key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{30,}"),
    ("API key", "pa-", r"pa-[A-Za-z0-9_-]{40,}"),
    ("API key", "fc-", r"fc-[0-9a-f]{32}"),
    ("API key", "lin_api_", r"lin_api_[A-Za-z0-9]{30,}"),
    ("API key", "figd_", r"figd_[A-Za-z0-9_-]{30,}"),
    ("API key", "pmak-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{30,}"),
    ("API key", "nrak-", r"NRAK-[A-Z0-9]{24,}"),
    ("API key", "sg.", r"SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    ("API key", "key-", r"key-[0-9a-f]{32}"),
    ("access token", "ntn_", r"ntn_[A-Za-z0-9]{30,}"),
    ("access token", "dop_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),
    ("access token", "doo_v1_", r"doo_v1_[0-9a-f]{40,}"),
    ("access token", "shpat_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{30,}"),
    ("access token", "shpss_", r"shpss_[0-9a-fA-F]{30,}"),
    ("access token", "pypi-", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    ("access token", "rubygems_", r"rubygems_[0-9a-f]{40,}"),
    ("access token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("access token", "dapi", r"dapi[0-9a-f]{32}"),
    ("access token", "dp.", r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{30,}"),
    ("access token", "glsa_", r"gl(?:sa|c)_[A-Za-z0-9_=+/]{30,}"),
    ("access token", "glc_", r"glc_[A-Za-z0-9_=+/]{30,}"),
    ("access token", "glptt-", r"gl(?:ptt|rt|dt|cbt|soat)-[A-Za-z0-9_-]{18,}"),
    ("access token", "glrt-", r"glrt-[A-Za-z0-9_-]{18,}"),
    ("access token", "gldt-", r"gldt-[A-Za-z0-9_-]{18,}"),
    ("access token", "atatt3", r"ATATT3[A-Za-z0-9_=-]{40,}"),
    ("access token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("access token", "sbp_", r"sbp_[0-9a-f]{40}"),
    ("access token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{30,}"),
    ("access token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
    ("access token", "eaac", r"EAAC[A-Za-z0-9]{40,}"),
    ("vault token", "hvs.", r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    ("vault token", "hvb.", r"hvb\.[A-Za-z0-9_-]{24,}"),
    ("payment key", "_live_", r"(?:sk|rk)_live_[A-Za-z0-9]{20,}"),
    ("payment key", "_test_", r"(?:sk|rk)_test_[A-Za-z0-9]{20,}"),
    ("payment key", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("payment key", "sq0", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}"),
    ("age key", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    (
        "webhook address",
        "hooks.slack.com",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{30,}",
    ),
    (
        "webhook address",
        "/api/webhooks/",
        r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/[0-9]{15,}/[A-Za-z0-9_-]{50,}",
    ),
    ("storage key", "accountkey=", r"AccountKey=(?P<value>[A-Za-z0-9+/]{60,}={0,2})"),
)
"""Kind, what each text that matches has in it in lower case, and the form, as the vendors publish it."""

_HINTS = (
    *(hint for _, hint, _ in _VENDORS),
    "sk-", "_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "xapp-", "akia", "asia", "aiza", "gsk_", "npm_",
    "glpat-", "hf_", "pplx-", "eyj", "-----begin", "bearer", "authoriz", "passw", "passphrase", "pwd", "secret",
    "token", "api key", "api_key", "api-key", "apikey", "kennwort", "密码", "密碼", "パスワード", "://",
)  # fmt: skip
"""Every text that a rule matches has one of these in lower case, or looks like the next one; looking for them
first is many times as fast."""

_NUMBERED = re.compile(r"[0-9]{8}:[A-Za-z0-9_-]{20}")

HINT = f"(?i)(?:{'|'.join(map(re.escape, _HINTS))})|{_NUMBERED.pattern}"
"""The same as one pattern, for engines that look at a whole column at once."""

_ASSIGNED = (
    r"(?i:api[ _-]?key|(?:access|refresh|auth|bot|client)[ _-]?token|token|client[ _-]?secret|secret"
    r"|password|passwd|passphrase|passwort|kennwort|pwd|密码|密碼|パスワード)"
    r"[\"'`]?(?:\s*[:=：＝]\s*|\s+(?i:is|ist)\s+)[\"'`]?"
)

# A value that a person would not write as a word: a digit or a sign in it, or a change of case inside.
_VALUE = r"(?=\S*(?:[0-9#$%^&*+~]|[a-z][A-Z]))(?P<value>[^\s\"'`,;<>()\[\]{}]{6,})"

_START = r"(?<![A-Za-z0-9_])"
"""Not inside a word of ASCII: `\\b` would miss a key right behind a Chinese or Japanese word."""

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z ]+-----|.*)", re.DOTALL
        ),
    ),
    (
        "authorization header",
        re.compile(r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:bearer|basic)\s+\S{8,}"),
    ),
    ("bearer token", re.compile(_START + r"[Bb]earer\s+[A-Za-z0-9._~+/=-]{16,}")),
    ("JSON web token", re.compile(_START + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")),
    ("API key", re.compile(_START + r"sk-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}")),
    ("GitHub token", re.compile(_START + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("AWS key", re.compile(_START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])")),
    ("Slack token", re.compile(_START + r"(?:xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})")),
    (
        "API key",
        re.compile(
            _START + r"(?:AIza[A-Za-z0-9_-]{30,}|(?:gsk|npm|hf)_[A-Za-z0-9]{20,}|(?:glpat|pplx)-\S{16,})"
        ),
    ),
    *((kind, re.compile(_START + form)) for kind, _, form in _VENDORS),
    ("bot token", re.compile(_START + r"[0-9]{8,12}:[A-Za-z0-9_-]{20,}")),
    ("password in an address", re.compile(r"://[^/\s:@]*:(?P<value>[^/\s@]+)@")),
    ("password", re.compile(_ASSIGNED + _VALUE)),
)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in `text`, in order, none inside another; already masked ones are none."""
    if not may_hold_secrets(text):
        return ()
    found: list[Secret] = []
    for kind, pattern in _RULES:
        for match in pattern.finditer(text):
            part = "value" if "value" in pattern.groupindex else 0
            start, end = match.span(part)
            if MASKED.search(text, start, end) or any(s.start < end and start < s.end for s in found):
                continue
            found.append(Secret(kind, start, end))
    return tuple(sorted(found, key=lambda secret: secret.start))


def may_hold_secrets(text: str) -> bool:
    """Whether `text` is worth a look; False is certain."""
    lower = text.lower()
    for hint in _HINTS:  # a loop: `any` over a generator takes twice the time
        if hint in lower:
            return True
    return _NUMBERED.search(text) is not None


def kinds() -> tuple[str, ...]:
    """Every kind of secret that is recognised, in alphabetical order."""
    return tuple(sorted({kind for kind, _ in _RULES}))


def veiled(text: str) -> str:
    """`text` for a preview of a mask: each secret by its kind, so that what goes can be seen, and nothing read."""
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}[{secret.kind}]{text[secret.end :]}"
    return text


def mask(text: str) -> tuple[str, int]:
    """`text` with each secret replaced by `MARK`, and how many there were."""
    secrets = find_secrets(text)
    for secret in reversed(secrets):
        text = text[: secret.start] + MARK + text[secret.end :]
    return text, len(secrets)


def is_masked(text: str) -> bool:
    """Whether some program has masked a secret in `text`: what stood there is lost."""
    return "REDACTED]" in text and MASKED.search(text) is not None
