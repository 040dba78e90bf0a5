"""What a person tells in the same breath as a question: "our servers run Debian 12, does the package work there?"."""

from __future__ import annotations

import re

_CLAUSE = re.compile(
    r"\s*(?:[,;，；]|[—–]|\s-\s|\.{2,}|…|。|\.\s+|\s(?=so (?:does|do|is|are|can|could|will|would|what|how|why)\b)|\s(?=and (?:what|how|why|can|does)\b))\s*"
)

_FROM_HERE = re.compile(
    r"\b(?:now that|given that|seeing (?:that|as)|considering (?:that )?|since|when|because|bc|wo|da|weil|nachdem|vu que|puisque|maintenant que|étant donné que|sachant que"
    r"|ya que|ahora que|dado que|si (?=desde |ya )|já que|agora que|sendo que|раз|учитывая,? что|если (?=у нас|мы уже))\s*"
    r"(?P<told>(?:we|our|my|i['’ ]|mein\w*|unser\w*|ich|wir|mon|ma|mes|notre|nos|on|nous|mi|mis|nuestr\w+|desde|ya|meu|minha|noss\w+|a gente|у нас|у меня|мы|наш\w*)(?![\w]).+)",
    re.IGNORECASE,
)
"""A reason inside the question that speaks of the person's own."""

_CJK_REASON = re.compile(
    r"^(?:既然|因为|由于)(?P<zh>.{5,}?)[，,]|^(?P<ja>.{6,}?)(?:なの?んだけど|なんだけど|んだけど|だけど|なんですが|ですが|んですけど|だから|なので|んで|から)[、,\s]*\S"
)

_ASKING = re.compile(
    r"^(?:(?:ok|so|hey|and|und|y|e|et|а|и|oye|ey|moin|hallo|hi|say)\s+)*(?:what|whats|why|whyd|how|hows|when|where|who|which|is|are|was|were|do|does|did|can|could|would|should|will|any|have you"
    r"|wer|wie|wann|wo|warum|wieso|weshalb|was|welche\w*|kannst|könntest|könnte|weißt|hast|gibt|geht|darf|soll|muss ich"
    r"|qu[eé]|c[oó]mo|cu[aá]ndo|cu[aá]nto|d[oó]nde|qui[eé]n|cu[aá]l|por qu[eé]|puedes|puede|hay|comment|quand|où|pourquoi|combien|peux|quel\w*|est-ce|c['’]est quoi|tu (?:sais|peux|me)"
    r"|qual|quando|onde|quem|quanto|como|tem|pode|что|как|когда|где|почему|зачем|сколько|кто|можно|какой|какая|есть ли)(?!\w)|^(?:为什么|为啥|怎么|什么|哪|谁|几|多少|能不能|有没有|你|なぜ|なんで|どう|どこ|何|誰|いつ)",
    re.IGNORECASE,
)
"""A clause that asks by its first word."""

_SUPPOSING = re.compile(
    r"^(?:(?:and|und|y|e|et|а|и)\s+)?(?:if|suppose|say|wenn|falls|angenommen|si|se|если|допустим)(?!\w)|^(?:要是|如果|假如|万一|もし)",
    re.IGNORECASE,
)

_HELLO = re.compile(
    r"^(?:(?:ok(?:ay)?|so|hey|hi|hello|moin|hallo|servus|ah|oh|oye|che|ey|hola|salut|bon|bonjour|oi|olá|ola|слушай|привет|ну|那|嗯|哎|あの(?:さ|ね)?|ねえ)[,!，、]?\s+)+",
    re.IGNORECASE,
)

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

_FEWEST, _FEWEST_CJK = 4, 6
"""Words, and characters of Chinese and Japanese, of what can be a statement."""


def told_beside(sentence: str) -> str:
    """The part of a question that tells something, in its own words; empty where all of it asks."""
    reason = _CJK_REASON.match(sentence)
    if reason is not None and (told := _statement(reason["zh"] or reason["ja"] or "")):
        return told
    clauses = [clause for clause in _CLAUSE.split(sentence.rstrip("?？ 。")) if clause]
    before: list[str] = []
    for clause in clauses[:-1]:
        bare = _HELLO.sub("", clause)
        if _SUPPOSING.match(bare) or (before and _ASKING.match(bare)):
            break
        if not _ASKING.match(bare):
            before.append(clause)
    if before:
        start = sentence.find(before[0])
        end = sentence.find(before[-1], start) + len(before[-1])
        if told := _statement(sentence[start:end]):
            return told
    found = _FROM_HERE.search(sentence)
    return _statement(found["told"]) if found is not None else ""


def _statement(part: str) -> str:
    """A part as a statement, empty where it is too short for one or asks itself."""
    said = _HELLO.sub("", part.strip(" ,;，；?？"))
    long_enough = len(said) >= _FEWEST_CJK if _CJK.search(said) else said.count(" ") + 1 >= _FEWEST
    return said if long_enough and not _ASKING.match(said) and not _SUPPOSING.match(said) else ""
