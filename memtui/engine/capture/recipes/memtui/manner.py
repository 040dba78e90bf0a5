"""How something is meant: repeated from somebody else, in irony, between us, for the text at hand, as fiction.

What is said so is no statement of the person's own, whatever its words. Told by its shape in eight languages.
"""

from __future__ import annotations

import re
from functools import cache

from memtui.engine.core.hints import HintedPatterns

_SAYING = (
    r"(?:say|says|said|goes|went|writes|wrote|written|reads|told|tells|quote|screamed|muttered"
    r"|sagt|sagte|sagen|gesagt|gemeint|geschrieben|meint|meinte|schrieb|steht|rief"
    r"|dijo|dice|decía|decian|suelta|soltó|pone|escribió|dit|disait|dis|écrit|écrivait|lance|répète"
    r"|diz|disse|fala|falou|falava|escreveu|сказал\w*|говорит|говорил\w*|пишет|написал\w*|твердит)"
)

_QUOTED = re.compile(
    rf"\b{_SAYING}\b[^\"“”„«»]{{0,24}}[\"“„«]\s*\S+(?:\s+\S+){{2,}}?\s*[\"”“»]"
    r"|(?:说|說|讲|講|问|问过|喊|念叨)[^“「『\"]{0,4}[“「『\"].{4,}[”」』\"]"
    r"|[「『].{4,}[」』]\s*(?:って|と|なん)(?:言|い[うっ]|話|書|叫|答)",
    re.IGNORECASE,
)
"""Whole words of somebody else in their marks, with the verb that gives them."""

_GLAD = (
    r"(?:lov(?:e|ing)|adore|enjoy|liebe?n?|mag|freue? mich|encanta\w*|adoro|amo|j['’]adore|j['’]aime|обожаю|люблю|喜欢|喜歡|爱|愛"
    r"|大好き|好き|最高)"
)

_IRONIC = re.compile(
    rf"^(?:(?:oh|uh|ah|na|uy|ay|ну|わー|哇|あー)[,\s]*)?(?:great|super|wonderful|fantastic|brilliant|perfect|lovely|awesome|toll|klasse|spitze|herrlich"
    rf"|genial|(?:qué|que) (?:maravilla|bien|ilusión|alegría|bom|lindo)|génial|formidable|parfait|ótimo|maravilha|класс|отлично|прекрасно|真棒|太好了|太棒了|好极了)[,!，！.… ]+.*{_GLAD}"
    rf"|^(?:oh|uy|ah|ну)[,\s]+(?:yes|yeah|great|sí|si|ja|oui|sim|да|конечно)[,!\s]+.*{_GLAD}"
    rf"|^(?:对对对|对对|是是是|はいはい|yeah,? yeah|ja,? ja|sí,? sí|oui,? oui|да,? да)[,，、!\s]*.*{_GLAD}"
    r"|^(?:i |we )?(?:just |really )?lov(?:e|ing) (?:how|it when|when)\b"
    r"|^わー.*(?:大好き|最高|嬉しい)|[(（](?:棒|皮肉|irony|sarcasm|ironie|狗头)[)）]|(?<!\w)/s\s*$",
    re.IGNORECASE,
)
"""Praise in front of what nobody likes."""

_PRIVATE = re.compile(
    r"\b(?:do ?n[o'’]?t|never) (?:write|note|save|store|keep|remember|record|log|put) (?:this|that|it|any of (?:this|that))\b|\boff the record\b|\b(?:keep (?:this|it)|this stays|just) between (?:us|you and me)\b|\bforget (?:i said|that i said|this)\b"
    r"|\b(?:das|dies) (?:bleibt|ist) (?:bitte |nur )?unter uns\b|\b(?:nicht|niemals) (?:notieren|merken|speichern|aufschreiben)\b|\b(?:merk|notier|speicher)\w* (?:dir )?(?:das|dies|es) (?:bitte |bloß |lieber )?nicht\b"
    r"|\bno (?:lo |la |me lo )?(?:apuntes|guardes|anotes|recuerdes|registres)\b|\bentre nosotros\b|\bque quede entre\b"
    r"|\bne (?:retiens|note|garde|enregistre|mémorise)\w* (?:pas|rien)\b|\b(?:c['’]est |reste )entre nous\b"
    r"|\bn[ãa]o (?:anota|guarda|salva|grava|registra)\w*\b|\b(?:fica|é) (?:só )?entre (?:nós|a gente)\b"
    r"|(?<!\w)не (?:записывай|запоминай|сохраняй|храни)\w*|(?<!\w)(?:это )?между нами(?!\w)|не для записи"
    r"|(?:别|不要|不用|勿)(?:记|記|存|写下|保存|记录|往外说)|(?:你知我知|只跟你说|咱俩之间)"
    r"|(?:メモ|記録|保存|覚え)(?:し)?ない(?:で|よう)|ここだけの話|内緒",
    re.IGNORECASE,
)
"""The person asks not to keep it."""

_PART = (
    r"(?:text|paragraph|sentence|mail|e-?mail|letter|summary|line|title|draft|section|heading|reply|message|post|essay|caption|slide|chapter"
    r"|absatz|satz|brief|betreff|zusammenfassung|zeile|überschrift|entwurf|nachricht|aufsatz"
    r"|texto|párrafo|parrafo|frase|correo|carta|resumen|línea|título|parágrafo|resumo|mensagem|paragraphe|phrase|lettre|résumé|courriel|titre"
    r"|текст\w*|абзац\w*|предложени\w*|письм\w*|заголов\w*)"
)

_AT_HAND = re.compile(
    rf"\b(?:for|in|just|only)(?: just| only)? (?:this|that|the) (?:one|{_PART})\b|\b(?:the|this|that) (?:first|second|third|last|next|opening|final) {_PART}\b|\bthis (?:once|time)\b"
    rf"|\b(?:den|diesen|diese|dieses|diesem|dem) (?:ersten?|zweiten?|dritten?|letzten?|nächsten? )?{_PART}\b|\bdiesmal\b|\bnur (?:dieses|diesmal|heute|hier)\b"
    rf"|\b(?:este|esta|ese|esa|neste|nesse|nesta|desse|deste) (?:\w+ )?{_PART}\b|\bs[oó] (?:este|esta|esse|essa|neste|nesse|dessa|por esta)\b|\besta vez\b"
    rf"|\b(?:ce|cet|cette) (?:\w+ )?{_PART}\b|\bcette fois\b|(?<!\w)(?:в )?(?:этом|этот|эту|этого) {_PART}|(?<!\w)(?:на|в) этот раз(?!\w)"
    r"|这次|這次|这一次|这回|这封|这段|这篇|本文|第[一二三四五]段|今回|この(?:文|段落|メール|文章)|第[一二三]段落",
    re.IGNORECASE,
)
"""It is about the one text that is being written, or for this one time."""

_STORY = re.compile(
    r"^(?:here(?:['’]s| is) )?(?:(?:the|my|a|an|mein\w*|ein\w*|mon|ma|mi|un[ae]?|o|a|meu|minha|мой|моя|我的?|私の)\s*)?(?:\w+ (?:of|from|de|aus) )?(?:(?:my|mein\w*|ma|mon|mi|minha|meu|моей|моего) )?"
    r"(?:\w+ )?(?:novel|story|opening|poem|song|lyrics|screenplay|horoscope|fortune cookie|dream|roman\w*|geschichte\w*|gedicht\w*|märchen|horoskop|extrait|nouvelle|conte|poème|chanson|cuento|relato|novela|poema|canción|horóscopo|conto|música|рассказ\w*|роман\w*|стих\w*|повест\w*|гороскоп\w*|小说|小説|故事|短篇|剧本|歌词|物語|歌詞)"
    r"(?:(?<=[\u3040-\u9fff])|(?!\w))[^:：]{0,24}[:：]"
    r"|\bmy (?:favou?rite )?(?:character|protagonist|villain|player character)\b|\bknock knock\b"
    r"|^(?:write|tell|schreib\w*|erzähl\w*|escribe|cuéntame|escreve|écris|raconte|напиши|расскажи|写|讲|書いて).{0,24}(?:story|poem|novel|tale|geschichte|gedicht|cuento|historia|poema|história|histoire|conte|poème|рассказ|историю|стих\w*|小说|故事|物語|小説)",
    re.IGNORECASE,
)
"""A piece of fiction with its head, or the wish for one."""

_IF_EVER = re.compile(
    r"^(?:(?:y|and|e|et|und|so|а|и|那|そして)[,\s]+)?(?:if (?:i|we|you) (?:ever|one day|hypothetically)\b|(?:wenn|falls) (?:ich|wir|man) (?:mal|irgendwann|je|eines tages)\b|si (?:un|algún) d[ií]a\b|si un jour\b"
    r"|se (?:eu|a gente|um dia|nós) (?:\w+(?:sse|ssemos)|um dia)\b|если (?:бы|когда-нибудь|вдруг)(?!\w)|要是哪天|如果哪天|万一)"
    r"|\b(?:just )?(?:spitballing|thinking out loud|brainstorming)\b|\bnur (?:so )?(?:eine?|als) idee\b|\bes solo una idea\b|\bjuste une idée\b|\bsó uma ideia\b|просто (?:идея|мысль)|只是(?:个)?想法|思いつき(?:だけど|ですが)",
    re.IGNORECASE,
)
"""What may be once, or an idea that is only played with."""


_MARKS = ('"', "“", "”", "„", "«", "»", "「", "『")


@cache
def _meant() -> HintedPatterns:
    return HintedPatterns(irony=_IRONIC, story=_STORY, ever=_IF_EVER)


@cache
def _asked() -> HintedPatterns:
    return HintedPatterns(private=_PRIVATE)


def manner_of(sentence: str) -> str:
    """The gate that the way of saying something sets, empty where it is meant as it stands."""
    if any(mark in sentence for mark in _MARKS) and _QUOTED.search(sentence):
        return "quote"
    found = _meant().search(sentence)
    if "irony" in found:
        return "irony"
    return "imagined" if found else ""


def asks_not_to_keep(text: str) -> bool:
    """Whether a person asks in a message not to keep what it says."""
    return bool(_asked().search(text))


def is_at_hand(sentence: str) -> bool:
    """Whether a wish is for the one text at hand, or for this one time."""
    return _AT_HAND.search(sentence) is not None
