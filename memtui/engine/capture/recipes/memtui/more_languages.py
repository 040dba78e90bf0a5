"""How people word what is worth keeping in Portuguese and Russian; the form is that of `wording`."""

from __future__ import annotations

from typing import Literal

Kind = Literal["preference", "decision", "fact", "identifier", "correction"]

PORTUGUESE: tuple[tuple[Kind, str, str, bool], ...] = (
    ("correction", "não nao desculpa errei corrigindo correção mentira na", r"^(?:n[ãa]o|desculpa|ops|opa|mentira|na verdade)\b[,:;. ]+.{0,60}\b(?:é|era|são|fica|agora|mudou|chama|tem)\b|\b(?:errei|me enganei|me confundi|corrigindo|correção)\b.{4,}", False),
    ("correction", "mais", r"\bn[ãa]o (?:é|são|fica|está|tem|usamos|moro|trabalho)\b.{0,30}\bmais\b", False),
    ("correction", "virou mudou passou adiou adiaram mudaram", r"\b(?:mudou|passou|adiou|adiaram|mudaram)\b.{0,20}\b(?:para|pra|pro)\b", False),
    ("decision", "decidimos decidi resolvemos escolhemos fechamos ficou combinamos combinado vamos", r"\b(?:decidimos|decidi|resolvemos|escolhemos|fechamos (?:com|em)|combinamos|ficou (?:decidido|combinado|acertado))\b|\bvamos (?:usar|mudar|migrar|trocar|ficar com|adotar)\b", False),
    ("decision", "partir diante agora", r"\b(?:a partir de (?:agora|hoje|amanhã|{w})|de agora em diante|daqui (?:pra|para) frente)\b", True),
    ("preference", "prefiro preferimos gosto adoro detesto odeio amo suporto curto", r"\b(?:prefiro|preferimos|(?:n[ãa]o )?gosto de|adoro|detesto|odeio|n[ãa]o (?:suporto|curto|aguento))\b(?! (?:isso|isto)[.!]*$)", False),
    ("preference", "sempre nunca", r"^(?:por favor,? )?(?:sempre|nunca)\b \S+ \S+|^(?:por favor,? )?{w}(?: \S+){0,6} (?:sempre|nunca)\b", True),
    ("preference", "me", r"\bn[ãa]o me (?:mand|cham|trat|pergunt|envi|escrev|fal)\w+\b|\b(?:me cham[ea]|pode me chamar) (?:de|só)\b", True),
    ("fact", "sou moro trabalho nasci tenho estudo falo temos", r"\b(?:sou (?:uma? |de |alérgic[oa]|vegetarian[oa]|vegan[oa]|diabétic[oa]|casad[oa]|solteir[oa]|{w}(?= (?:na|no|em|num|numa)\b|[.,]))|moro (?:em|no|na)|trabalho (?:em|no|na|como|de|com)|nasci|tenho (?:uma?|dois|duas|três|quatro|\d+|alergia|diabetes|asma)|estudo {w}|falo {w}|temos (?:uma?|dois|duas|três|\d+))\b(?!.{0,12}\b(?:pergunta|problema|dúvida|ideia)\b)", False),
    ("fact", "meu minha meus minhas nosso nossa nossos nossas", r"\b(?:meus?|minhas?|noss[oa]s?) (?:\S+ ){1,4}?(?:é|são|está|tem|têm|mora|trabalha|fala|se chama|chama|fecha|abre|demora|começa|termina|custa|usa|fica|roda|nasceu)\b(?!.{0,10}\b(?:quebrad|lent|vazi|ruim)\w*)", False),
    ("fact", "fecha abre demora custa começa dura fica ficam roda tem", r"^(?:o|a|os|as) (?:\S+ ){1,5}?(?:fecha|abre|demora|custa|começa|termina|dura|pertence|fica em|ficam em|roda em|não tem|nao tem)\b|^(?-i:[A-ZÀ-Ý]\w+) (?:dirige|trabalha|mora|cuida|coordena|ensina)\b", False),
    ("fact", "gente ainda rodamos usamos", r"\b(?:a gente|nós) (?:ainda |só )?(?:usa|roda|tá no|ta no|está no|tem)\b|\b(?:usamos|rodamos|estamos no)\b", False),
    ("identifier", "é são está em fica ficam no na", r"\b(?:é|são|está|estão|fica|ficam|se chama|em|no|na)\b|:", False),
)  # fmt: skip

RUSSIAN: tuple[tuple[Kind, str, str, bool], ...] = (
    ("correction", "нет поправка ошибся ошиблась исправлюсь точнее неправильно оговорился", r"^(?:нет|не|ой|упс)[,:. ]+.{0,50}(?:на самом деле|теперь|не\s+\S+,?\s+а)\s|^(?:поправка|уточнение|исправление)[:,. ].{6,}|(?:я )?(?:ошиб(?:ся|лась)|оговорил(?:ся|ась)|перепутал[а]?).{4,}", False),
    ("correction", "уже больше", r"\b(?:уже|больше) не\b(?! (?:могу|хочу|знаю|помню|надо|нужно)).{3,}", False),
    ("correction", "перенесли переехал переехали сменили поменяли", r"\b(?:перенесли|переехал[аи]?|сменили|поменяли|перевели)\b.{0,30}\bна\b.{2,}", False),
    ("decision", "решили решил решила решено выбрали договорились остаёмся остаемся переходим", r"\b(?:решил[иа]?|решено|выбрал[иа]?|договорил(?:ись|ся|ась)|утвердили|остаёмся на|остаемся на|переходим на|отказываемся от)\b", False),
    ("decision", "отныне теперь впредь", r"\b(?:отныне|впредь|с этого дня|(?:начиная )?с (?:понедельника|завтрашнего дня|нового года|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря))\b", True),
    ("preference", "предпочитаю люблю ненавижу нравится терпеть обожаю", r"\b(?:предпочитаю|(?:не )?люблю|ненавижу|обожаю|мне (?:больше |не )?нрав(?:ится|ятся)|терпеть не могу|не переношу)\b(?! (?:это|такое)[.!]*$)", False),
    ("preference", "всегда никогда ты вы", r"^(?:пожалуйста,? )?(?:всегда|никогда)\b \S+ \S+|\b(?:давай(?:те)? на|обращайся на|говори мне) (?:ты|вы)\b", True),
    ("preference", "называй зови пиши отвечай без", r"^(?:пожалуйста,? )?(?:называй|зови) меня\b|^(?:пожалуйста,? )?(?:отвечай|пиши)(?: мне)?\b.{0,40}\b(?:всегда|только|без|кратко|по-русски)\b", True),
    ("fact", "я мне", r"\bя (?:\S+ )?(?:работаю|живу|учусь|родил(?:ся|ась)|преподаю|говорю на|не (?:ем|пью|курю)|веду|играю|пою)\b|^я (?!в|на|же|уже|тоже|ещё|не|просто|так|тут|думаю|хочу|знаю|могу)[а-яё-]{4,}(?: (?:на|в|по|из)\b|[,.])|\bмне \d+ (?:лет|год)", False),
    ("fact", "мой моя моё мои наш наша наше наши у", r"\b(?:мо[йяиё]|наш[аеи]?) (?:\S+ ){1,4}?(?:работает|живёт|живет|учится|стоит|находится|называется|закрывается|открывается|начинается|любит|зовут|говорит|лежит)\b|\bу (?:меня|нас|него|неё|моей|моего|дочки|дочери|сына|жены|мужа|мамы|папы|бабушки|брата|сестры)\b.{0,20}(?:аллерги\w*|диабет\w*|астма|непереносимость|двое|трое|есть|кошка|собака|день рождения)", False),
    ("fact", "нас проде работает крутится стоит", r"\bу нас\b.{2,50}(?:[A-Za-z]\w+ \d|на проде|на сервере|стоит|крутится|работает)", False),
    ("identifier", "лежат лежит находится называется это порт адрес номер на в", r"\b(?:лежат|лежит|находится|называется|это|порт|адрес|номер|на|в)\b|:|—", False),
)  # fmt: skip
