"""Facts that are easily mistaken for each other, in languages whose script the bundled model never learned.

Who keeps which thing where: every owner has every thing, so a question has one answer among thirty-six that share a
word with it. The question asks in another form than the fact stands in, where the language has such forms.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.quality.dialogues import Turn

WHEN_MS = 1_750_000_000_000


@dataclass(frozen=True)
class Language:
    """Words of one language: owners and things as (in a fact, in a question), places, and both sentences."""

    owners: Sequence[tuple[str, str]]
    things: Sequence[tuple[str, str]]
    places: Sequence[str]
    fact: str
    question: str


LANGUAGES: Mapping[str, Language] = {
    "Japanese": Language(
        [(each, each) for each in ("田中", "鈴木", "佐藤", "高橋", "山本", "中村")],
        [(each, each) for each in ("自転車", "パスポート", "ギター", "辞書", "望遠鏡", "花瓶")],
        ("地下室", "屋根裏", "車庫", "本棚の上", "駅のロッカー", "会社の机"),
        "{owner}さんは{thing}を{place}に置いています。",
        "{owner}さんの{thing}はどこにありますか",
    ),
    "Korean": Language(
        [(f"{each}는", f"{each}의") for each in ("민수", "영희", "철수", "지혜", "수미", "경미")],
        [(f"{each}를", f"{each}는") for each in ("자전거", "열쇠고리", "기타", "사전류", "카메라", "화초")],
        ("지하실에", "다락방에", "차고에", "책장 위에", "역 보관함에", "회사 책상에"),
        "{owner} {thing} {place} 둡니다.",
        "{owner} {thing} 어디에 있습니까",
    ),
    "Arabic": Language(
        [(each, each) for each in ("سامي", "ليلى", "خالد", "مريم", "يوسف", "نورة")],
        [(f"ال{each}", each) for each in ("دراجة", "قاموس", "كاميرا", "مفتاح", "مظلة", "ساعة")],
        ("في القبو", "في العلية", "في المرآب", "فوق الرف", "في خزانة المحطة", "على مكتب العمل"),
        "يضع {owner} {thing} {place}.",
        "أين {thing} {owner}",
    ),
    "Russian": Language(
        [
            ("Иван", "Ивана"),
            ("Ольга", "Ольги"),
            ("Пётр", "Петра"),
            ("Мария", "Марии"),
            ("Антон", "Антона"),
            ("Вера", "Веры"),
        ],
        [
            ("велосипед", "велосипед"),
            ("гитару", "гитара"),
            ("словарь", "словарь"),
            ("камеру", "камера"),
            ("телескоп", "телескоп"),
            ("вазу", "ваза"),
        ],
        ("в подвале", "на чердаке", "в гараже", "на полке", "в камере вокзала", "на рабочем столе"),
        "{owner} держит {thing} {place}.",
        "где {thing} {owner}",
    ),
    "Chinese and English": Language(
        [(each, each) for each in ("Anna", "Bob", "小李", "小王", "Carla", "老张")],
        [(each, each) for each in ("自行车", "passport", "吉他", "laptop", "望远镜", "花瓶")],
        ("地下室", "the attic", "车库", "the top shelf", "火车站的 locker 12", "office desk"),
        "{owner} 把 {thing} 放在 {place}。",
        "{owner} 的 {thing} 在哪里",
    ),
    "identifiers in Russian": Language(
        [(each, each) for each in ("pay-07", "mail_01", "Falcon9", "db.main", "edge/12", "AuthProxy")],
        [(each, each) for each in ("порт", "пароль", "журнал", "лимит", "таймер", "ключ")],
        ("в config/prod.toml", "в .env.local", "в vault://ops", "в settings.py", "в README", "в Makefile"),
        "Для {owner} {thing} задан {place}.",
        "где {thing} {owner}?",
    ),
}


def facts(name: str) -> list[tuple[Turn, str]]:
    """The memories of a language, each with the question that it alone answers."""
    words, rng = LANGUAGES[name], random.Random(3)
    found = []
    for at, owner in enumerate(words.owners):
        for number, thing in enumerate(words.things):
            text = words.fact.format(owner=owner[0], thing=thing[0], place=rng.choice(words.places))
            turn = Turn(f"{name} {at} {number}", name, "", text, "", WHEN_MS + at * 60_000 + number)
            found.append((turn, words.question.format(owner=owner[1], thing=thing[1])))
    return found
