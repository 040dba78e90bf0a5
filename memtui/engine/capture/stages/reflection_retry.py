"""Whether a failed reflection is worth one more try."""

from __future__ import annotations

import re

_PASSING = re.compile(
    r"unexpected eof|\beconnreset\b|\beconnaborted\b|\betimedout\b|\bepipe\b|connection reset|socket hang up"
    r"|socket (?:closed|disconnected)|connection (?:closed|aborted|dropped)|early close"
    r"|stream (?:ended|closed) unexpectedly|temporar(?:y|ily).*unavailable|upstream.*unavailable"
    r"|service unavailable|bad gateway|gateway timeout|\b(?:http|status)\s*(?:502|503|504)\b|\btimed out\b"
    r"|\btimeout\b|\bund_err_(?:socket|headers_timeout|body_timeout)\b|network error|fetch failed",
    re.IGNORECASE | re.ASCII,
)

_FINAL = re.compile(
    r"\b401\b|\bunauthorized\b|invalid api key|invalid[_ -]?token|\bauth(?:entication)?_?unavailable\b"
    r"|insufficient (?:credit|credits|balance)|\bbilling\b|\bquota exceeded\b|payment required|model .*not found"
    r"|no such model|unknown model|context length|context window|request too large|payload too large"
    r"|too many tokens|token limit|prompt too long|session expired|invalid session|refusal|content policy"
    r"|safety policy|content filter|disallowed",
    re.IGNORECASE | re.ASCII,
)


def reflection_retry(error: str, retries: int, useful_chars: int) -> tuple[bool, str]:
    """(whether to try again, why): once, only for a passing failure that left nothing usable."""
    if retries > 0:
        return False, "retry_already_used"
    if useful_chars > 0:
        return False, "useful_output_present"
    if _FINAL.search(error):
        return False, "non_retry_error"
    if _PASSING.search(error):
        return True, "transient_upstream_failure"
    return False, "non_transient_error"
