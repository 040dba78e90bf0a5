"""From messages to statements: what each text of a conversation is, and the gate that stopped what is not kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.engine.capture.recipes.memtui.manner import asks_not_to_keep
from memtui.engine.capture.recipes.memtui.statements import (
    LONGEST,
    SHORTEST,
    FoundStatement,
    find,
    sentences,
)
from memtui.engine.capture.stages.cleaning import normalize_capture_text, strip_envelope
from memtui.engine.capture.trace import CaptureCandidate, CaptureText, Fate, Message
from memtui.engine.core.content_rules import instruction_like
from memtui.engine.core.hints import Hints
from memtui.engine.core.secrets import MARK, mask
from memtui.engine.core.text import clean
from memtui.engine.recall.recipes.memtui.prompt_gate import is_command

TOOL_ROLES = ("toolResult", "tool", "function")

_CATEGORY = {"preference": "preferences", "decision": "events", "identifier": "entities"}

_SELF = re.compile(
    r"^(?:i\b|i'm\b|my (?:name|birthday|surname|job)|ich\b|mein(?:e)? (?:name|geburtstag|beruf)|soy\b|yo\b|vivo\b|trabajo\b|je\b|j['’])|^我(?!们|的|家|女|儿|妈|爸|妻|老|丈|哥|姐|弟|妹|孩)|^我的?(?:名字|生日)|^(?:私|僕|俺|わたし)(?:は|も)",
    re.IGNORECASE,
)

_SPOKEN_SECRET = re.compile(
    r"(?:pass(?:word|code|phrase)|passwor[td]|kennwort|\bpin(?:-?code)?|contraseña|mot de passe|api[ _-]?key|access[ _-]?token|secret key|密码|口令|パスワード|暗証番号)"
    r"(?:\s+(?:for|of|to|von|für|de|du|der)\s+[^:=]{1,40}?)?['’\"]?\s*(?:(?:is|ist|lautet|es|est)\s+|[:=：]\s*|是|为|は)\s*[\"'`“「]?"
    r"(?!(?:stored|rotated|kept|in|not|required|wrong|the|a|changed|expired|nicht|falsch|gespeichert|wird|im|in)\b)(?P<value>[^\s\"'`”」。，,]{3,})",
    re.IGNORECASE,
)

_HINTS = Hints(
    (
        "pass",
        "kennwort",
        "mot de passe",
        "senha",
        "парол",
        "пин",
        "pin",
        "contraseña",
        "api",
        "token",
        "secret",
        "密码",
        "口令",
        "パスワード",
        "暗証番号",
    )
)
"""One of these is in every secret in plain words: looked for first."""

_NAMED_SECRET = re.compile(
    r"(?<![a-z0-9])[a-z0-9_]*(?:_(?:token|secret|key|pass|passwd|pwd|credentials?|auth|clave|passwort|kennwort|contrasena|senha)|password|passphrase)\d*\b['’\"`]?"
    r"(?:\s*(?:[:=：]|是|为|設定は|は|が|を)\s*|\s+(?:(?:is|was|must|should|has|needs|to|still|be|set|now|equals?|ist|war|muss|soll|sein|auf|noch|lautet|es|era|debe|ser|vale|valer|valait|está|est|était|doit|valoir|être|é|tem|deve|estava|que|равн[аоы]?|равен|должн[аоы]|быть|—|-)\s+){1,4})"
    r"[\"'`“「]?(?![/~$<]|https?:)(?=[^\s\"'`”」。，,]*[\d!#%&+*?_-])(?P<value>[^\s\"'`”」。，,]{6,})",
    re.IGNORECASE,
)
"""A variable whose name says that it holds a secret, with its value in plain words."""

_GIVEN_SECRET = re.compile(
    r"\b(?:mysql\w*|mariadb\w*|sshpass|mongo\w*|(?:docker|podman|oc|az|helm registry) login)\b[^\n|;]*?\s-p\s*[\"']?(?P<value>(?![$<])[^\s\"']{4,})"
    r"|\bredis-cli\b[^\n|;]*?\s-a\s*[\"']?(?P<redis>(?![$<])[^\s\"']{4,})"
    r"|\b(?:curl|wget|https?|skopeo|lftp)\b[^\n|;]*?\s(?:-u|--user|--creds)[ =]?[\"']?[\w.@-]+:(?P<user>(?![$<])[^\s\"']{3,})"
)
"""A secret that is given to a program by an option of one letter."""

_ABOUT_SECRET = re.compile(
    r"(?<![a-z])pins?(?![a-z])|(?:karten|card|bank|konto|handy|sim)[ -]?pin|passwor[dt]|passcode|kennwort|contraseña|mot de passe|senha|парол|пин-?код|密码|口令|暗証|パスワード",
    re.IGNORECASE,
)
"""A message that speaks of something secret: what follows may say it without naming it."""

_BARE = re.compile(r"(?<![\w.:/-])\d{4,8}(?![\w:/-]|\.\d)")
"""Digits that could be a PIN."""

_LAID_OUT_SECRET = re.compile(
    r"(?:password|passcode|passphrase|passwort|kennwort|contraseña|mot de passe|senha|парол[ьяю]|пин-?код|密码|口令|パスワード|暗証番号)"
    r"(?: (?:от|для|к|for|of|to|von|vom|für|de|del|da|do|du)(?: (?!(?:in|on|at|by|auf|im|am|en|sur|dans|no|na|em|в|на|is|ist|es|é)\b)[^\W\d_]+){1,3}|的|の)?\s+"
    r"(?P<value>(?=[^\s,;]*\d)(?=[^\s,;]*[^\W\d_])[^\s,;:=。，、]{6,})",
    re.IGNORECASE,
)
"""A secret that stands behind its name without a word between: "пароль от админки abc-123"."""

_SIGN_IN = re.compile(
    r"(?:log ?in|sign ?in|anmeldung|zugang|iniciar sesión|acceso|connexion|identifiants|acesso|логин|вход|登录|账号|ログイン|アカウント)[^\n]{0,40}?"
    r"(?P<user>[\w.+-]+@[\w-]+\.[\w.-]+)\s*(?:の|/|\||,|、|:|と|mit|with|con|avec|com|с|和)\s*(?P<value>(?=\S*[^\W\d_])(?=\S*[\d!#$%&*?])\S{3,})",
    re.IGNORECASE,
)
"""What somebody signs in with: an address, and what can only be its password."""

_NUMBER_OF = re.compile(
    r"(?<![^\W_])(?:ports?|puertos?|porta|portas|порт\w*|rooms?|zimmer|raum|salle|sala|tickets?|issues?|lines?|zeilen?|ligne|línea|versions?"
    r"|version(?:en)?|versión|versão|years?|jahr|euro?s?|dollars?|usd|eur|rows?|zeichen|requests?|bytes?|users?)(?![^\W_])|端口|ポート|部屋|房间|版本|年|行",
    re.IGNORECASE,
)
"""What digits may be the number of: a text that says so tells no PIN with them."""

_NEAR = 4
"""Messages from one that speaks of a secret within which bare digits are taken for it."""

_NAMING = Hints(("_", "password", "passphrase"))

_GIVING = Hints((" -p", " -a", " -u", " --user", " --creds"))

_CARD = re.compile(r"\d(?<![\d-]\d)[ -]?(?:\d[ -]?){12,18}(?![\d-])")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that may become a memory. `place` is its text's place in the trace."""

    text: str
    kind: str
    category: str
    place: int
    sure: bool = True
    rule: str = ""
    negated: tuple[str, ...] = ()
    at_ms: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """The texts with what stopped them, and the statements of those that nothing stopped."""

    texts: tuple[CaptureText, ...]
    statements: tuple[Statement, ...]
    sendable: tuple[int, ...]
    """Places of the texts that a model may be shown: no secret, no order, nobody else's."""


def read_texts(messages: Sequence[Message], *, assistant: bool) -> ReadTexts:
    """Every message as a text, cleaned of what its host put around it; statements by rules."""
    texts: list[CaptureText] = []
    statements: list[Statement] = []
    sendable: list[int] = []
    about_secret = -_NEAR
    for number, message in enumerate(messages):
        text, found = _read(message, number, assistant)
        place = len(texts)
        if number - about_secret < _NEAR and any(_could_be_pin(statement.text) for statement in found):
            found = [statement for statement in found if not _could_be_pin(statement.text)]
            if not found:
                text = replace(text, text=MARK, fate="dropped", gate="secret", reason=_REASONS["secret"])
        if _ABOUT_SECRET.search(content_text(message.content)):
            about_secret = number
        statements += [
            Statement(
                statement.text,
                str(statement.kind),
                category_of(statement.text, str(statement.kind)),
                place,
                statement.sure,
                statement.rule,
                statement.negated,
                message.at_ms,
            )
            for statement in found
        ]
        if text.gate not in _NEVER_SENT and text.text.strip():
            sendable.append(place)
        texts.append(text)
    return ReadTexts(tuple(texts), tuple(statements), tuple(sendable))


_NEVER_SENT = (
    "empty",
    "assistant text",
    "tool output",
    "system text",
    "command",
    "order",
    "private",
    "secret",
)


def category_of(text: str, kind: str) -> str:
    """The six-word category of a statement of this kind."""
    if kind in _CATEGORY:
        return _CATEGORY[kind]
    return "profile" if _SELF.match(text) else "entities"


def masked(value: Any) -> Any:
    """A JSON value with every secret masked in its texts."""
    if isinstance(value, str):
        return without_secrets(value)[0]
    if isinstance(value, Mapping):
        return {key: masked(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [masked(item) for item in value]
    return value


def _could_be_pin(text: str) -> bool:
    """Whether digits stand in `text` and nothing in it says what they number."""
    return _BARE.search(text) is not None and _NUMBER_OF.search(text) is None


def without_secrets(text: str) -> tuple[str, int]:
    """`text` with every secret masked, and how many there were: also those that are told in plain words."""
    masked, count = mask(text)
    hinted = _HINTS.found_in(masked.lower())
    spoken = [m for m in _SPOKEN_SECRET.finditer(masked) if MARK not in m["value"]] if hinted else []
    for match in reversed(spoken):
        start, end = match.span("value")
        masked = masked[:start] + MARK + masked[end:]
    for pattern, hints in ((_NAMED_SECRET, _NAMING), (_GIVEN_SECRET, _GIVING)):
        named = list(pattern.finditer(masked)) if hints.found_in(masked.lower()) else []
        spans = [m.span(group) for m in named for group in m.groupdict() if m[group] and MARK not in m[group]]
        for start, end in reversed(spans):
            masked = masked[:start] + MARK + masked[end:]
        count += len(spans)
    for pattern, there in ((_LAID_OUT_SECRET, hinted), (_SIGN_IN, "@" in masked)):
        if not there:
            continue
        laid_out = [m for m in pattern.finditer(masked) if MARK not in m["value"]]
        for match in reversed(laid_out):
            start, end = match.span("value")
            masked = masked[:start] + MARK + masked[end:]
        count += len(laid_out)
    cards = [m for m in _CARD.finditer(masked) if _is_card(m[0])]
    for match in reversed(cards):
        masked = masked[: match.start()] + MARK + masked[match.end() :]
    return masked, count + len(spoken) + len(cards)


def _is_card(text: str) -> bool:
    """Whether digits are the number of a payment card, by their check digit."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _read(message: Message, number: int, assistant: bool) -> tuple[CaptureText, list[FoundStatement]]:
    raw = content_text(message.content)
    shown, secrets = without_secrets(clean(raw))

    def stopped_by(gate: str, value: float | str | None = None, limit: float | None = None) -> CaptureText:
        return CaptureText(shown.strip(), message.role, "dropped", gate, value, limit, _REASONS[gate], number)

    if gate := _by_role(message.role, assistant):
        return stopped_by(gate), []
    if not raw.strip():
        return stopped_by("empty"), []
    said = normalize_capture_text(message.role, raw, is_command)
    if said is None:
        gate = "command" if is_command(raw) else "injected block"
        return stopped_by(gate), []
    said = strip_envelope(said)
    if secrets:
        said = without_secrets(said)[0]
    if order := instruction_like(said):
        return stopped_by("order", order), []
    if asks_not_to_keep(said):
        return stopped_by("private"), []
    kept: list[FoundStatement] = []
    stopped: list[FoundStatement] = []
    for sentence in sentences(said):
        if MARK in sentence:
            stopped.append(FoundStatement(sentence, None, "secret"))
            continue
        found = find(sentence)
        (kept if found.kind is not None else stopped).append(found)
    if kept:
        return CaptureText(shown.strip(), message.role, "used", message=number), kept
    first = _worst(stopped)
    if secrets and first.gate != "secret":
        first = FoundStatement(said, None, "secret")
    value, limit = _measured(first)
    return stopped_by(first.gate, value, limit), []


def content_text(content: Any) -> str:
    """The text of a message: a string, or its text blocks one below the other."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [
        part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | dict)
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _by_role(role: str, assistant: bool) -> str:
    if role == "user" or (role == "assistant" and assistant):
        return ""
    if role == "assistant":
        return "assistant text"
    return "tool output" if role in TOOL_ROLES else "system text"


def _worst(stopped: Sequence[FoundStatement]) -> FoundStatement:
    """The sentence whose gate says most about the text."""
    if not stopped:
        return FoundStatement("", None, "empty")
    return min(
        stopped, key=lambda found: _TELLING.index(found.gate) if found.gate in _TELLING else len(_TELLING)
    )


def _measured(found: FoundStatement) -> tuple[float | None, float | None]:
    if found.gate == "too short":
        return float(len(found.text)), float(SHORTEST)
    if found.gate == "too long":
        return float(len(found.text)), float(LONGEST)
    return None, None


_TELLING = (
    "secret", "unsure", "too long", "passing", "common knowledge", "imagined", "quote", "irony", "request", "question",
)  # fmt: skip

_REASONS = {
    "assistant text": "what the agent says is not kept unless asked for",
    "tool output": "what a tool printed is nobody's statement",
    "system text": "the host's own text",
    "empty": "there is no text in it",
    "command": "a command to the host",
    "injected block": "it repeats memories that were given to the agent",
    "order": "it gives an agent orders: never stored",
    "secret": "it holds a secret: never stored",
    "private": "the person asks not to keep it",
    "quote": "it repeats what somebody else said",
    "irony": "it praises what it complains of",
    "too short": "too short for a statement",
    "too long": "a sentence this long is pasted text",
    "greeting": "a greeting",
    "assent": "an assent or a thank-you",
    "question": "a question tells nothing",
    "request": "to be done now, not to be remembered",
    "unsure": "uncertain wording",
    "imagined": "it is only imagined",
    "passing": "it holds for the moment only",
    "common knowledge": "everybody knows it",
    "code or output": "code or output, not something said",
    "no statement": "no rule finds a preference, decision, fact, identifier or correction in it",
    "duplicate": "it is stored already",
}
"""What each gate means, in words."""


def reason_of(gate: str) -> str:
    """A gate in words."""
    return _REASONS.get(gate, gate)


def fate_of(text: CaptureText, candidates: Sequence[CaptureCandidate]) -> CaptureText:
    """A text with what became of the candidates that were made of it."""
    if any(candidate.writes for candidate in candidates):
        return CaptureText(
            text.text, text.role, "kept", text.gate, text.value, text.limit, text.reason, text.message
        )
    skipped = [candidate for candidate in candidates if candidate.decision == "skip"]
    if skipped:
        best = max((n.score for n in skipped[0].neighbours), default=None)
        return replace(text, fate="known", gate="duplicate", value=best, reason=skipped[0].reason)
    first = candidates[0]
    fate: Fate = "deferred" if first.gate in ("unsure", "model failed") else "dropped"
    return replace(text, fate=fate, gate=first.gate, reason=first.reason or reason_of(first.gate))
