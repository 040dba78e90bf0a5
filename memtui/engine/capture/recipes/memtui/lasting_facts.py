"""Facts, plans and to-dos that their content tells, not their wording: versions in use, health, dates, what is yet to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memtui.engine.capture.recipes.memtui.more_languages import Kind
from memtui.engine.core.hints import HintedPatterns


@dataclass(frozen=True, slots=True)
class LastingFact:
    """What a sentence tells, in words, with its kind and the words that tell it."""

    kind: Kind
    told: str
    words: str


_OURS = (
    r"(?:we(?:['’]?re| are| run| use|['’]ve)?|our|wir|unser\w*|on|nous|notre|nos|estamos|usamos|seguimos|tenemos|nuestr\w+|a gente|nós|noss\w+|у нас|мы|наш\w*)(?!\w)"
    r"|我们|我們|咱们|线上|公司|うち|弊社|当社|本番"
)

_VERSION = re.compile(
    rf"(?:\b|(?<=[^\w])|^)(?:{_OURS}).{{0,40}}?(?-i:(?<![A-Za-z])[A-Z][A-Za-z.+#]*(?:[ -][A-Z][A-Za-z]*)? ?v?\d+(?:\.\d+)*)(?![\w-])",
    re.IGNORECASE,
)
"""What a person's team runs, with its version."""

_HEALTH = re.compile(
    r"\b(?:allerg\w*|al[ée]rgi\w*|аллерги\w*|diabet\w*|diabét\w*|diabète|zöliakie|c(?:o?e|é|œ)lia[ck]\w*|intoleran\w*|intolérant\w*|unverträglich\w*|asthma\w*|asma|астма|диабет\w*|непереносимость\w*|vegan\w*|vegetarian\w*|végétarien\w*|vegetarisch|gluten(?:-?free|frei)?|salzarm|kosher|halal|anticoagul\w*|blutverdünner|pregnant|embarazada|enceinte|schwanger|grávida|беременн\w*)(?!\w)"
    r"|过敏|過敏|不耐受|吃素|糖尿病|哮喘|怀孕|アレルギー|糖尿|ぜんそく|妊娠",
    re.IGNORECASE,
)

_SOMEONE = re.compile(
    r"\b(?:i['’]?(?:m|ve)?|my|our|mein\w*|unser\w*|ich|mi|mis|soy|tengo|mon|ma|mes|je|j['’]ai|meus?|minhas?|sou|tenho|у (?:меня|нас|него|неё|\w+[иыа])|мой|моя|я)(?!\w)"
    r"|(?-i:\b[A-ZÀ-ÝА-Я][\wà-ÿ-]+) (?:can(?:['’]?t|not)|has|is|darf|hat|ist|no puede|es|est|a|é|tem)\b"
    r"|我|咱|老公|老婆|孩子|私|僕|俺|うち|息子|娘|妻|夫|母|父|[上下]の子",
    re.IGNORECASE,
)

_MONTHS = (
    r"(?:jan(?:uary|uar|vier|eiro)?|feb(?:ruary|ruar)?|mar(?:ch|s|ço|zo)?|märz|apr(?:il)?|may|mai(?:o)?|mayo|jun(?:e|i|ho|io)?|juin|jul(?:y|i|ho|io)?|juillet|aug(?:ust)?|août|agosto|abril|avril|sept?(?:ember|embre|iembre)?|setembro|o[ck]t(?:ober|obre|ubre)?|outubro|nov(?:ember|embre|iembre|embro)?|de[czs](?:ember|embre|iembre|embro)?|enero|febrero|fevereiro|février|décembre"
    r"|январ\w+|феврал\w+|марта|апрел\w+|ма[яй]|июн\w+|июл\w+|август\w*|сентябр\w+|октябр\w+|ноябр\w+|декабр\w+)"
)

_DATED = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th|er|\.)?(?: (?:of|de|du))? {_MONTHS}(?!\w)|\b{_MONTHS}(?: the)? \d{{1,2}}(?:st|nd|rd|th)?(?![\w:.])|\d{{1,2}}月\d{{1,2}}[日号號]"
    rf"|\b(?:in|im|en|em|в) {_MONTHS}(?!\w)|[一二三四五六七八九十]{{1,3}}月份?|(?:明年|来年|next year|nächstes jahr|el año que viene|l['’]an prochain|ano que vem|в следующем году)",
    re.IGNORECASE,
)
"""A day of the calendar or a month."""

_WILL = re.compile(
    r"\b(?:we|i|we['’]?(?:re|ll)|i['’]?(?:m|ll))(?: \w+)? (?:mov(?:e|ing)|fly(?:ing)?|go(?:ing)?|get(?:ting)?|leav(?:e|ing)|start(?:ing)?|launch(?:ing)?|marry(?:ing)?|visit(?:ing)?|travel(?:ling|ing)?|defend(?:ing)?|open(?:ing)?|clos(?:e|ing)|hav(?:e|ing)|ship(?:ping)?)\b"
    r"|\b(?:ich|wir) (?:zieh\w*|flieg\w*|fahr\w*|heirat\w*|eröffn\w*|schließ\w*|bekomm\w*|krieg\w*|start\w*|reis\w*|geh\w*)\b|\b(?:zieh|flieg|fahr|heirat|reis)\w* (?:ich|wir)\b"
    r"|\b(?:nos (?:mudamos|vamos|casamos)|\w+(?:amos|emos|imos)|defiendo|viajo|vuelo|empiezo|me (?:mudo|caso|voy))\b"
    r"|\b(?:on|nous) (?:part\w*|déménage\w*|emménage\w*|ferme\w*|ouvre\w*|lance\w*)\b|\bje (?:pars|soutiens|déménage|commence)\b"
    r"|\b(?:vamos|vou|a gente vai|mudo|viajo)\b|(?<!\w)(?:переезжа\w+|летим|лечу|едем|еду|уезжа\w+|начинаем|запускаем|закрываем\w*|открываем\w*)(?!\w)"
    r"|(?:我|我们|咱们|店).{0,8}(?:搬|飞|飛|去|结婚|开业|关|上线|毕业|出发|改成|换)|(?:引っ越|結婚|出発|開店|リリース|旅行|行き|やり)(?:し|ます|す|る)?",
    re.IGNORECASE,
)

_YET_TO_DO = re.compile(
    r"\b(?:i|we)(?: also)? still (?:have|need|got|must|gotta)\b(?: to)?.{4,}|\b(?:i|we) (?:have|need|got) to (?!go\b|run\b|say\b|think\b|admit\b|ask\b|know\b|see\b|be\b|leave\b|laugh\b).{4,}\b(?:by|before|until|this week|next week|tomorrow|on {0,1}(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|\b(?:i|we) (?:have to|need to) (?:call|get|renew|book|pay|ring|send|register|submit|apply|pick up|return|order|file|cancel)\b.{6,}"
    r"|\b(?:ich|wir) (?:muss|müssen|muß)\b.{0,40}\b(?:noch|vor|bis)\b.{4,}|\b(?:muss|müssen) (?:ich|wir)\b.{0,30}\b(?:noch|vor|bis)\b.{4,}"
    r"|\bme falta (?!el aire|tiempo|poco).{6,}|\b(?:tengo que|hay que|debo) (?:llamar|pedir|avisar|pagar|renovar|enviar|mandar|comprar|reservar)\b.{4,}|\b(?:tengo que|debo)\b.{4,}\b(?:antes de|para el)\b"
    r"|\bfaut (?:encore )?que (?:je|j['’]|on)\b.{6,}|\bje dois (?:encore |rappeler|appeler|payer|envoyer|renouveler).{4,}"
    r"|\b(?:preciso|tenho que|falta eu) (?:levar|ligar|pagar|mandar|renovar|marcar|buscar|enviar|comprar|entregar)\b.{4,}"
    r"|(?<!\w)мне (?:ещё )?(?:надо|нужно)(?: ещё)? (?!знать|понять|идти|бежать|подумать).{8,}|(?<!\w)(?:надо|нужно) (?:будет )?(?:ещё )?(?:позвонить|оплатить|заказать|записаться|отправить|продлить).{4,}"
    r"|我(?:还|還)(?:得|要|没|需要).{3,}|(?:别忘|記得|记得)(?:了)?(?:去|要|帮我记).{3,}|.{3,}(?:まで|前)に.{2,}(?:ないと|なきゃ|なければ|なくちゃ)|.{3,}(?:しないと|なきゃ|なくちゃ)(?:いけない|ね|な)?[。!！]?$",
    re.IGNORECASE,
)
"""What a person has yet to do, beyond the moment."""

_QUOTED_CHARACTERS = 40


_MONTH_SIGNS = (
    *(
        "jan",
        "feb",
        "mar",
        "apr",
        "may",
        "mai",
        "jun",
        "jul",
        "aug",
        "ago",
        "abr",
        "avr",
        "sep",
        "set",
        "oct",
        "okt",
    ),
    *("out", "nov", "dec", "dez", "dic", "ene", "fev", "next year", "jahr", "viene", "prochain", "vem"),
)
"""One of these is in every date in ASCII."""


@cache
def _content() -> HintedPatterns:
    return HintedPatterns(health=_HEALTH, version=_VERSION, to_do=_YET_TO_DO)


def lasting_fact(said: str) -> LastingFact | None:
    """The fact, plan or to-do that a sentence tells by its content, None for none."""
    found = _content().search(said)
    if (match := found.get("health")) and _SOMEONE.search(said):
        return LastingFact("fact", "a matter of health", match[0])
    if match := found.get("version"):
        return LastingFact("fact", "a version in use", match[0][-_QUOTED_CHARACTERS:].strip())
    if match := found.get("to_do"):
        return LastingFact("decision", "something yet to do", match[0][:_QUOTED_CHARACTERS].strip())
    lower = said.lower()
    if said.isascii() and not any(sign in lower for sign in _MONTH_SIGNS):
        return None
    if (match := _DATED.search(said)) and _WILL.search(said):
        return LastingFact("decision", "a plan with its date", match[0])
    return None
