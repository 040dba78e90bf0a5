"""The one place where hostile text becomes harmless for a screen.

A memory may hold anything: escape sequences, bidi overrides, NUL. Everything that is shown passes
through `clean` once, when a row becomes a `Memory`.
"""

from __future__ import annotations

import re

# Explicit directional formatting and isolates, which can reorder what a reader sees (Trojan Source).
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Invisible fillers that hide or join words; ZWJ and variation selectors stay, emoji need them.
_INVISIBLE = "\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0001-\U000e007f"
# A joiner that joins no emoji draws nothing, but makes whoever counts cells lose the next one.
_IDLE_JOINER = re.compile("\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")
_HOSTILE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}{_INVISIBLE}]")


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)  # Control Pictures block: ESC becomes one visible cell
    if code == 0x7F:
        return "\u2421"
    if code in (0x2028, 0x2029):
        return "\n"
    if code < 0xA0 or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return ""


def clean(text: str) -> str:
    """Return `text` safe to draw, keeping its line breaks.

    C0 and C1 controls become visible pictures, tabs four spaces, CRLF and CR a line feed, lone
    surrogates U+FFFD; bidi controls, invisible fillers and idle joiners are removed. Idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return _IDLE_JOINER.sub("", _HOSTILE.sub(_picture, text))


def one_line(text: str) -> str:
    """`clean` text on one line: every run of white space becomes one space."""
    return " ".join(clean(text).split())
