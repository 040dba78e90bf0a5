"""Why a memory is suspected, in one sentence for a person."""

from __future__ import annotations

from memtui.engine.blame.evidence import Grounds


def reason(grounds: Grounds) -> str:
    """What speaks for it that the sentence rests on the memory, and what against."""
    evidence = grounds.evidence
    words = [share for share in grounds.shares if share not in grounds.values]
    parts = []
    if grounds.values:
        parts.append(f"it says {_listed(grounds.values)}")
    if words:
        parts.append(f"it has the words {_listed(words)}" if not parts else f"the words {_listed(words)}")
    if not parts:
        parts.append(
            "it is near in meaning" if evidence.meaning > 0.1 else "it shares nothing that can be named"
        )
    if evidence.denied > 0.3:
        parts.append("both deny the same")
    if evidence.lead > 0.2:
        parts.append("no other memory says as much of the sentence")
    against = []
    if evidence.contrast:
        against.append("the memory says it of something else")
    elif evidence.opposed > 0.4:
        against.append("the memory says the opposite")
    if evidence.conflict > 0.5:
        against.append("the memory says another value")
    if evidence.elsewhere > 0.3:
        against.append("another source of the turn says it")
    sentence = ", ".join(parts)
    if against:
        sentence += "; but " + " and ".join(against)
    return sentence[:1].upper() + sentence[1:] + "."


def _listed(things: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"“{each}”" for each in things[:4])
