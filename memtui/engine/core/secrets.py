"""Keys and passwords in a text: where they are, what kind they are, and the text without them."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from memtui.engine.core import text as plain
from memtui.engine.core.hints import HintedPattern, Piece, Sieve, hinted, matches, pieces
from memtui.engine.core.number_secrets import find_numbers, may_hold_numbers
from memtui.engine.core.seed_phrases import find_labelled_phrases, find_phrases, may_hold_phrase
from memtui.engine.core.told_secrets import HINTS as TOLD_HINTS
from memtui.engine.core.told_secrets import find_social, find_told

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
    ("API key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,}"),
    ("API key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("API key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{30,}"),
    ("API key", "fw_", r"fw_[A-Za-z0-9]{24,}(?![A-Za-z0-9_])"),
    ("access token", "secret_", r"secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("access token", "fo1_", r"fo1_[A-Za-z0-9_-]{40,}"),
    ("access token", "flyv1", r"FlyV1 fm[12]r?_[A-Za-z0-9+/=,_-]{40,}"),
    ("access token", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    ("access token", "vercel_blob_rw_", r"vercel_blob_rw_[A-Za-z0-9_]{24,}"),
    ("API key", "ltai", r"LTAI[A-Za-z0-9]{20}(?![A-Za-z0-9])"),
    ("API key", "akcp", r"AKCp[A-Za-z0-9]{60,}"),
    ("API key", "p8e-", r"p8e-[A-Za-z0-9]{32}"),
    ("API key", "4b1d", r"4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    ("access token", "clojars_", r"CLOJARS_[A-Za-z0-9]{60}"),
    ("access token", "ops_eyj", r"ops_eyJ[A-Za-z0-9+/]{200,}={0,3}"),
    ("API key", "bsa", r"BSA[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])"),
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
    ("storage key", "sig=", r"sig=(?P<value>[A-Za-z0-9%+/]{40,}={0,2})"),
    ("storage key", "accountkey=", r"AccountKey=(?P<value>[A-Za-z0-9+/]{60,}={0,2})"),
)
"""Kind, what each text that matches has in it in lower case, and the form, as the vendors publish it."""

_HINTS = (
    *(hint for _, hint, _ in _VENDORS),
    "sk-", "_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "xapp-", "akia", "asia", "aiza", "gsk_", "npm_",
    "glpat-", "hf_", "pplx-", "eyj", "-----begin", "bearer", "authoriz", "secret",
    "token",
    "api key", "api_key", "api-key", "apikey", "kennwort", "contrase", "senha", "пароль",
    "geheimzahl", "密码", "密碼", "口令", "密钥", "金鑰", "パスワード", "暗証", "비밀번호", "access_key", "access key", "://",
    *TOLD_HINTS,
)  # fmt: skip
"""Every text that a rule matches has one of these in lower case, or looks like the next one; looking for them
first is many times as fast."""

_NUMBERED = re.compile(r"[0-9]{8}:[A-Za-z0-9_-]{20}")

_SERIAL = re.compile(r"SK[0-9a-f]{32}")

_TOLD_PIN = re.compile(
    r"(?i:(?:(?<![a-z])|karten|handy|konto|bank|sim|safe|giro)(?:pin|nip|puk)(?![a-z]{2}))|[a-z]PIN(?![a-z])|pin(?i:code|nummer)"
)
"""Most texts with these letters in them speak of shopping and opinions."""

_RE2_PIN = r"(?i:\b(?:[a-z]+-?)?(?:pin|nip|puk))"

WORD_SIEVE = f"(?i)(?:{'|'.join(map(re.escape, _HINTS))})|{_NUMBERED.pattern}|{_SERIAL.pattern}|{_RE2_PIN}"
"""The same as one pattern, for engines that look at a whole column at once."""

_ASSIGNED = (
    r"(?i:api[ _-]?key|(?:access|refresh|auth|bot|client)[ _-]?token|token|client[ _-]?secret|secret"
    r"|(?:secret[ _-]?)?access[ _-]?key|password|passwd|passphrase|passwort|kennwort|pwd|mot\s+de\s+passe"
    r"|contraseña|senha|пароль|密码|密碼|口令|密钥|金鑰|パスワード|暗証番号|비밀번호)"
    r"[\"'`]?(?:\s*(?:[:=：＝]|是|为|為|は|은|는)\s*|\s+(?i:is|ist|lautet|est|es|é|è)\s+|\s+[—–-]\s+)[\"'`]?"
)

_PASSWORD = (
    r"(?i:password|passwd|passphrase|passwort|kennwort|pwd|mot\s+de\s+passe|contraseña|senha|пароль)"
    r"[\"'`]?(?:\s*[:=：＝]\s*|\s+(?i:is|ist|lautet|est|es|é|è)\s+)[\"'`]?"
)

# A value that a person would not write as a word: a digit or a sign in it, or a change of case inside.
_VALUE = r"(?=\S*(?:[0-9#$%^&*+~]|[a-z][A-Z]))(?P<value>[^\s\"'`,;<>()\[\]{}，。；、）]{6,})"

# A digit-less one only where its form says so: in quotes, four words or more joined by hyphens, or alone behind a
# sign at the end of its line. What such places hold in manuals and code is none.
_SAID_OF_ONE = (
    r"(?!(?i:required|optional|optionnel|string|password|passwort|passwd|pass|secret|token|null|none|true|false|unknown"
    r"|undefined|empty|missing|invalid|incorrect|wrong|correct|weak|strong|expired|encrypted|hashed|hidden|redacted|masked"
    r"|removed|revoked|rotated|changed|unchanged|unset|default|disabled|enabled|forgotten|reset|stored|shared|example"
    r"|placeholder|your\w*|getpass|prompt|vault|keychain|keepass\w*|bitwarden|1password|later|never|always|nothing|unbekannt"
    r"|leer|falsch|geheim|abgelaufen)\b)"
)
_WORD_VALUE = (
    rf"(?:(?P<quoted>(?<=[\"'`]){_SAID_OF_ONE}[^\W\d_]{{6,}}(?=[\"'`]))"
    r"|(?P<joined>(?:[^\W\d_]{3,}-){3,}[^\W\d_]{3,})"
    rf"|(?P<alone>(?<=[:=：＝]\s){_SAID_OF_ONE}[^\W\d_]{{8,}}(?=\.?\s*(?:\n|$))))"
)

# Of a network that is named, two words will do: what is said of a password in general has other words at its end.
_NO_NAME = (
    r"(?i:ed|able|ible|ive|ent|ing|ly|only|time|term|user|wide|free|safe|date|day|like|known|aware|hidden|written|reset"
    r"|set|proof|friendly|length|case|art|abhängig|los)"
)
_NETWORK = (
    r"(?i:wi-?fi|wlan|wireless|network|router|hotspot|guests?|gäste)[ -](?:net(?:work|z)?[ -])?"
    r"(?i:password|passphrase|passwort|kennwort|pwd)[\"'`]?"
    r"(?:\s*[:=：＝]\s*|\s+(?i:is|ist|lautet)\s+(?:now\s+|jetzt\s+)?)[\"'`]?"
    rf"(?P<value>(?![^\s.,;]*{_NO_NAME}(?:[\s.,;]|$))[^\W\d_]{{3,}}(?:-[^\W\d_]{{3,}})+)"
)

# A door's code is told like this; the code of an error, a postal or a product code is not.
_OF_WHAT = r"(?:\s+(?i:of|for|to|von|für)\s+(?i:the|our|my|die|das|den)\s+\w+)?"
_DOOR = (
    rf"(?:(?i:(?:door|gate|garage|keypad|lockbox|locker) code|(?:tür|haustür|tor)-?code|tresorcode){_OF_WHAT}"
    r"(?:\s*[:=：＝]\s*|\s+(?:(?i:is|ist|lautet)\s+)?)"
    rf"|(?i:(?:entry|alarm|building) code){_OF_WHAT}(?:\s*[:=：＝]\s*|\s+(?i:is)\s+))"
    r"(?P<value>[0-9]{4,8}(?:[#*](?!\w))?)(?![0-9A-Za-z]|[-./:,][0-9]|\s+(?i:means|says|stands|bedeutet|heißt))"
)

_PIN = (
    r"(?:PIN|(?i:pin[ -]?(?:code|number|nummer)|(?:my|his|her|our|card|door|phone|sim|meine|handy|karten)[ -]pin"
    r"|geheimzahl))"
    r"[\"'`]?(?:\s*[:=：＝]\s*|\s+(?i:is|ist|lautet|est|es)\s+)[\"'`]?(?P<value>[0-9]{4,8})(?![0-9A-Za-z]|[-./:,][0-9])"
)

_START = r"(?<![A-Za-z0-9_])"
"""Not inside a word of ASCII: `\\b` would miss a key right behind a Chinese or Japanese word."""

_FORMS: tuple[tuple[str, str], ...] = (
    (
        "private key",
        r"(?s:-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z ]+-----|.*))",
    ),
    ("authorization header", r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:bearer|basic)\s+\S{8,}"),
    ("bearer token", _START + r"[Bb]earer\s+[A-Za-z0-9._~+/=-]{16,}"),
    ("JSON web token", _START + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("API key", _START + r"sk-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}"),
    ("GitHub token", _START + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("AWS key", _START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    (
        "AWS key",
        r"(?i:aws[ _-]?secret[ _-]?access[ _-]?key)[\"'`]?\s*[:=]\s*[\"'`]?(?P<value>[A-Za-z0-9/+=]{20,})",
    ),
    ("Slack token", _START + r"(?:xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})"),
    (
        "API key",
        _START + r"(?:AIza[A-Za-z0-9_-]{30,}|(?:gsk|npm|hf)_[A-Za-z0-9]{20,}|(?:glpat|pplx)-\S{16,})",
    ),
    *((kind, _START + form) for kind, _, form in _VENDORS),
    ("bot token", _START + r"[0-9]{8,12}:[A-Za-z0-9_-]{20,}"),
    ("password in an address", r"://[^/\s:@]*:(?P<value>[^/\s@]+)@"),
    ("password", _ASSIGNED + _VALUE),
    ("password", _PASSWORD + _WORD_VALUE),
    ("API key", _START + r"SK[0-9a-f]{32}(?![0-9a-fA-F])"),
    ("password", _START + _NETWORK),
    ("PIN", _START + _PIN),
    ("PIN", _START + _DOOR),
)


@cache
def _hints() -> Sieve:
    return Sieve(_HINTS)


@cache
def _hints_of_forms() -> Sieve:
    return Sieve(hint for _, form in _rules() for hint in form.hints)


@cache
def _rules() -> tuple[tuple[str, HintedPattern], ...]:
    """Compiled when the first text is worth a look: that takes longer than the first frame has."""
    return tuple((kind, hinted(form)) for kind, form in _FORMS)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in `text`, in order, none inside another; already masked ones are none."""
    found: list[tuple[int, int, str]] = []
    worth: list[Piece] = []
    for piece in pieces(text):
        part = text[piece.start : piece.limit]
        numbers, hinted_at_all = may_hold_numbers(part), _may_hold(part, piece.lower)
        if hinted_at_all or (numbers and _NUMBERED.search(part) is not None):
            worth.append(piece)
        if numbers or (hinted_at_all and ("ssn" in piece.lower or "insurance n" in piece.lower)):
            for start, end, kind in find_numbers(text, piece.start, piece.limit):
                if start < piece.stop:
                    _take(found, text, start, end, kind)
            for start, end, kind in find_social(text, piece.start, piece.stop, piece.limit, piece.lower):
                _take(found, text, start, end, kind)
        if may_hold_phrase(piece.lower):
            for start, end, kind in find_phrases(text, piece.start, piece.stop, piece.limit):
                _take(found, text, start, end, kind)
    if not worth:
        return tuple(Secret(kind, start, end) for start, end, kind in found) if found else ()
    hinted_at = [(piece, _hints_of_forms().found_in(piece.lower)) for piece in worth]
    for kind, form in _rules():
        among = [piece for piece, there in hinted_at if not there.isdisjoint(form.hints)]
        if not among:
            continue
        for match in matches(form, text, among):
            part_of = match.lastgroup or 0  # the only group with a name that has met something
            _take(found, text, *match.span(part_of), kind)
    for piece in worth:
        for start, end, kind in find_told(text, piece.start, piece.stop, piece.limit, piece.lower):
            _take(found, text, start, end, kind)
        for start, end, kind in find_labelled_phrases(
            text, piece.start, piece.stop, piece.limit, piece.lower
        ):
            _take(found, text, start, end, kind)
    return tuple(Secret(kind, start, end) for start, end, kind in found)


def _take(found: list[tuple[int, int, str]], text: str, start: int, end: int, kind: str) -> None:
    """Put one more among those found, unless another stands there or somebody masked it."""
    at = bisect(found, (start, end, ""))
    before = at > 0 and found[at - 1][1] > start
    behind = at < len(found) and found[at][0] < end
    if end > start and not (before or behind or MASKED.search(text, start, end)):
        found.insert(at, (start, end, kind))


def may_hold_secrets(text: str) -> bool:
    """Whether `text` is worth a look; False is certain."""
    lower = text.lower()
    return _may_hold(text, lower) or may_hold_numbers(text) or may_hold_phrase(lower)


def _may_hold(text: str, lower: str) -> bool:
    return _hints().any_in(lower) or _may_hold_signs(text, lower)


def _may_hold_signs(text: str, lower: str) -> bool:
    told = "pin" in lower or "nip" in lower or "puk" in lower
    return (told and _TOLD_PIN.search(text) is not None) or (
        "SK" in text and _SERIAL.search(text) is not None
    )


def kinds() -> tuple[str, ...]:
    """Every kind of secret that is recognised, in alphabetical order."""
    return tuple(
        sorted(
            {*(kind for kind, _ in _FORMS), "payment card", "IBAN", "social security number", "seed phrase"}
        )
    )


_MARKS = {
    "private key": ("-----BEGIN ... PRIVATE KEY-----",),
    "authorization header": ("Authorization: Bearer", "Authorization: Basic"),
    "bearer token": ("Bearer",),
    "JSON web token": ("eyJ",),
    "GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "AWS key": ("AKIA", "ASIA"),
    "Slack token": ("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
    "API key": ("sk-", "AIza", "gsk_", "npm_", "hf_", "glpat-", "pplx-", "SK and 32 hexadecimal digits"),
    "bot token": ("digits:letters",),
    "password in an address": ("://user:...@",),
    "PIN": ("PIN is 4711", "PIN meiner Karte", "code PIN", "número secreto", "door code 4711", "code de la porte", "Türcode"),
    "password": (
        "password =", "api key:", "token =", "secret:", "Kennwort ist", "the password of the router is", "mot de passe du", "contraseña del",
        "X is the password", "密码：", "パスワード：",
    ),
    "payment card": ("12 to 19 digits of an issuer whose check digit is right", "CVV 123"),
    "IBAN": ("an account number whose length and check digits are right",),
    "social security number": ("123-45-6789", "SSN", "Sozialversicherungsnummer", "numéro de sécurité sociale", "número de la seguridad social"),
    "seed phrase": ("12 words of the BIP-39 list in a row", "seed phrase: and 12 words"),
}  # fmt: skip

NOT_RECOGNISED = (
    "keys of plain hexadecimal digits or letters without a word such as key, token or secret before them",
    "passwords of letters alone without quotation marks that do not end what the sentence says ('the password "
    "sunflower opens it'), or that are a word which is often said of a password ('the password is secure')",
    "PINs and codes of doors, safes and alarms without a word that says so; a number after code, key, port or room alone",
    "account and card numbers whose check digits are wrong",
    "words of a wallet's seed phrase in another language than English without a word such as seed phrase before them",
)
"""What no form tells from other text."""


def forms() -> dict[str, tuple[str, ...]]:
    """By kind, what a secret that is recognised begins with or has in it."""
    found: dict[str, list[str]] = {}
    for kind in kinds():
        found[kind] = [*_MARKS.get(kind, ()), *(hint for name, hint, _ in _VENDORS if name == kind)]
    return {kind: tuple(dict.fromkeys(marks)) for kind, marks in found.items()}


def veiled(text: str) -> str:
    """Return `text` with the kind of each secret in its place: a preview of a mask that shows no secret."""
    return _replaced(text, find_secrets(text), lambda secret: f"[{secret.kind}]")


def mask(text: str) -> tuple[str, int]:
    """`text` with each secret replaced by `MARK`, and how many there were."""
    secrets = find_secrets(text)
    return _replaced(text, secrets, lambda _: MARK), len(secrets)


def _replaced(text: str, secrets: tuple[Secret, ...], by: Callable[[Secret], str]) -> str:
    """`text` with something else in the place of each secret, put together in one go."""
    parts, at = [], 0
    for secret in secrets:
        parts += [text[at : secret.start], by(secret)]
        at = secret.end
    return "".join([*parts, text[at:]]) if parts else text


def is_masked(text: str) -> bool:
    """Whether some program has masked a secret in `text`: what stood there is lost."""
    return "REDACTED]" in text and MASKED.search(text) is not None


_SHORTEST = 9
"""Characters below which no rule finds anything."""


def one_line(text: str) -> str:
    """`text` on one line as a list shows it: cleaned, every run of white space one space, each secret masked."""
    return plain.one_line(mask(text)[0] if len(text) >= _SHORTEST else text)
