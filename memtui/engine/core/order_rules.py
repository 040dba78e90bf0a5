"""What an order to a model looks like, in English, German, French, Spanish, Chinese and Japanese.

A preference is an order too ("always answer in German") and a memory like any other. What counts here is an order
that no person would want remembered: against the model's own rules, behind the person's back, out of the store, or
in somebody else's name. Most rules therefore ask for the second person or for what is the model's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memtui.engine.core.hints import HintedPattern, Piece, found_in, hinted
from memtui.engine.core.order_grammar import GRAMMAR

LANGUAGES = ("English", "German", "French", "Spanish", "Chinese", "Japanese")
"""The languages whose wordings are known."""

_FLAGS = re.I | re.S


def _any(*patterns: str) -> tuple[str, ...]:
    return patterns


_ANSWERS = r"(?:^|\n)\s*assistant\s*:\s*\S.*(?:\n|$)"

_ASKS = re.compile(
    r"(?:^|\n)[\s>*#_-]*(?:\[[^\]\n]{0,40}\][\s*_]*)?"
    r"(?:user|human|benutzer(?:in)?|nutzer(?:in)?|anwender(?:in)?|utilisateur|utilisatrice|usuari[oa]|utente|usuári[oa]|gebruiker"
    r"|użytkownik|пользователь|用户|用戶|使用者|ユーザー|사용자)[*_]*\s*[:：]",
    re.IGNORECASE,
)
"""A turn of the person in a talk that was written down, as in the summary of a session."""

_GUIDES_EN = (
    r"(?:instructions?|prompts?|rules?|messages?|guidelines?|directives?|restrictions?|safeguards?"
    r"|polic(?:y|ies))"
)

_GUIDES_DE = (
    r"(?:anweisung|instruktion|regel|vorgabe|befehl|prompt|richtlinie|vorschrift|weisung|einschränkung)\w*"
)

_GUIDES_FR = r"(?:instruction|consigne|règle|regle|directive|ordre|restriction)s?"

_GUIDES_ES = r"(?:instrucci|indicaci|regla|norma|orden|órden|directri|restricci|pauta)\w*"

_GUIDES_ZH = "(?:指令|指示|命令|规则|規則|提示|规定|規定|准则|準則|要求|限制)"

_MACHINE = (
    r"(?:assistant|ai|a\.i\.|model|bot|shell|agent|dan|root|admin\w*|system|ki|ia|modell|modèle|modelo|assistent"
    r"|asistente)"
)

RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "breaks out of its block",
        _any(r"</?\s*(?:relevant-memories|system|assistant|instructions?|tool_(?:call|result)s?)\s*>"),
    ),
    (
        "overrides instructions",
        _any(
            r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|your)\b.{0,30}\b"
            + _GUIDES_EN
            + r"\b",
            r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|what|all(?:\s+of)?(?:\s+that)?)\s+(?:above|before"
            r"|(?:prior|previous)(?=\s*(?:[.,;:!?]|and\b|$))|(?:i|you|we)\S*\s+(?:were\s+)?(?:said|told"
            r"|have been told)(?!\s+(?:about|on|regarding))|(?:is|was|stands)\s+above)\b",
            r"\b(?:stop|quit|cease)\s+(?:following|obeying|applying)\b.{0,20}\b" + _GUIDES_EN,
            r"\b(?:violate|disobey|bypass|circumvent)\b.{0,12}\b(?:your|the\s+developer'?s?|all)\b.{0,20}\b"
            + _GUIDES_EN,
            r"\b(?:above|previous|prior|earlier)\s+"
            + _GUIDES_EN
            + r"\s+(?:are|is)\s+(?:now\s+)?(?:void|cancel\w*|invalid|null|obsolete)",
            r"\b(?:your|these)\s+new\s+(?:task|instructions?|rules?|orders?)\s+(?:is|are)\b"
            r"|\bnew\s+instructions?\s*:\s*\w",
            r"\bfollow\s+only\s+(?:the\s+)?" + _GUIDES_EN + r"\s+(?:in|of|from)\s+this\b",
            r"\b(?:rules?|instructions?|guidelines?|orders?)\b.{0,12}\byou\s+(?:were|have\s+been|got"
            r"|had)\b.{0,8}\b(?:given|told|received)",
            r"\byour\s+(?:earlier|previous|prior|old|former|original)\s+" + _GUIDES_EN,
            # German
            r"\b(?:ignorier|missacht|vergiss|vergesst|vergessen\s+sie|überschreib|umgeh)\w*\b.{0,40}"
            r"\b(?:bisherig|vorherig|vorig|früher|obig|alle|deine|ihre|sämtlich)\w*\b.{0,30}\b" + _GUIDES_DE,
            r"\b(?:ignorier|missacht|vergiss|vergesst)\w*,?\s+(?:bitte\s+)?(?:alles|was)\b.{0,12}"
            r"\b(?:oben|zuvor|davor|bisher|vorher|darüber)\b",
            r"\b(?:setz\w*\s+dich|hinweg)\b.{0,12}\bdeine\b.{0,16}"
            + _GUIDES_DE
            + r"|\bdeine\b.{0,16}"
            + _GUIDES_DE
            + r"\s+hinweg\b",
            r"\b(?:beachte|befolge|folge)\b.{0,10}\b(?:vorherig|bisherig|obig|früher|deine)\w*\s+"
            + _GUIDES_DE
            + r"\s+nicht\b",
            r"\b(?:missachte?|brich|umgehe)\b.{0,20}"
            + _GUIDES_DE
            + r"\s+(?:des|der|deines)\s+(?:entwickler|betreiber)\w*",
            r"\bbefolge\s+nur\s+(?:noch\s+)?(?:diese|die\s+folgenden)\s+" + _GUIDES_DE,
            _GUIDES_DE + r",?\s+die\s+du\b.{0,20}\b(?:bekommen|erhalten|gelernt)",
            r"\bdeine\s+(?:bisherig|alt|früher|vorherig)\w*\s+" + _GUIDES_DE,
            # French
            r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?)\b.{0,20}\b(?:toutes?|tous|tes|vos|les)\b.{0,12}\b"
            + _GUIDES_FR
            + r"\b.{0,12}\b(?:précédent|antérieur|ci-dessus|plus\s+haut|reçu|donné|système)\w*",
            r"\b(?:ignore[zr]?|oublie[zr]?)\s+tout\s+ce\s+qui\s+(?:précède|est\s+écrit|a\s+été\s+dit)",
            r"\bne\s+(?:tiens|tenez)\s+(?:pas|aucun)\s+compte\s+(?:des|de\s+tes|de\s+vos|du)\b.{0,16}"
            + _GUIDES_FR,
            r"\b(?:désobéi\w*|contrevien\w*|passe\s+outre|enfrein\w*|contourne[zr]?)\b.{0,12}\b(?:aux?|à"
            r"|les|tes|vos)\b.{0,8}" + _GUIDES_FR,
            _GUIDES_FR
            + r"\s+(?:que\s+tu\s+as\s+reçu|qu['’]on\s+t['’]a)\w*|\btes\s+(?:anciennes?|premières?)\s+"
            + _GUIDES_FR,
            # Spanish
            r"\b(?:ignor[ae]|olvid[ae]|desestim[ae]|descart[ae]|no\s+hagas\s+caso\s+(?:de|a))\w*\b"
            r"(?=.{0,50}\b(?:anterior|previ[ao]|antes|tus|sus|todas)).{0,40}\b" + _GUIDES_ES,
            r"\b(?:ignor[ae]|olvid[ae]|descart[ae])\w*\s+todo\s+lo\s+(?:anterior|previo|dicho|de\s+arriba)",
            r"\b(?:desobedec\w*|incumpl\w*|viola|sáltate|saltate)\b.{0,8}\b(?:las?|los|tus)\b.{0,8}"
            + _GUIDES_ES,
            r"\b"
            + _GUIDES_ES
            + r"\s+que\s+(?:recibiste|te\s+dieron)|\btus\s+(?:antigu|anterior|previ)\w*\s+"
            + _GUIDES_ES,
            "你.{0,6}(?:收到|得到|接受)的.{0,4}" + _GUIDES_ZH + ".{0,8}(?:作废|作廢|无效|無效|失效)",
            # Chinese and Japanese
            "(?:忽略|无视|無視|忘记|忘記|违反|違反|不要遵守|不用理会|不用理會|不必理会|不要理会).{0,12}"
            + _GUIDES_ZH
            + r"(?!书|手册)",
            "(?:忽略|无视|無視|忘记|忘記|不要理会|不要理會|不用理会|不用管).{0,4}(?:以上|之前|上面|前面|先前).{0,4}"
            "(?:所有|一切|全部|内容|內容|的话|的話|说的|說的)",
            "绕过.{0,6}(?:审查|限制|过滤|确认)|繞過.{0,6}(?:審查|限制|過濾)|只(?:遵守|服从).{0,10}"
            + _GUIDES_ZH,
            "(?:これまで|以前|上記|前)の.{0,10}(?:指示|命令|ルール).{0,6}(?:無視|忘れ)",
            "(?:これまで|以前|上記|ここまで|今まで)の.{0,10}(?:内容|会話|文章|すべて|全て).{0,6}(?:無視し|忘れ[てろ])",
        ),
    ),
    (
        "speaks as somebody else",
        _any(
            r"(?:^|\n)\s*developer\s*:\s*\S.*(?:\n|$)",
            _ANSWERS,
            r"(?:^|\n)\s*(?:system|système|sistema|系统|系統|システム)\s*[:：]\s*(?=[^\n]*(?:\b(?:you|your|user|must|now|new"
            r"|delete|remove|ignore|override|grant|permission|treat|follow|respond|answer|reveal|neue"
            r"|lösche|ignorier\w*|du|nutzer"
            r"|nouvelle|supprime|ignore|tu|vous|utilisateur|nueva|borra|ignora|debes|usuario)\b|新的|删除|刪除|忽略|你|用户))\S",
            r"(?:^|\n|[.!?]\s+)(?:assistant|agent|ai|model|chatbot)\s*,\s+(?:run|execute|send|delete"
            r"|ignore|forward|open|call|download)\b",
            r"\b(?:treat|consider|handle)\b.{0,30}\bas\s+(?:coming\s+)?from\s+(?:the\s+)?(?:developer"
            r"|system|admin\w*)\b",
        ),
    ),
    (
        "calls a tool",
        _any(
            r"\b(?:run|call|use|invoke|execute)\b.{0,20}\b(?:tool|function|command)\b.{0,40}\w+_\w+",
            "(?:调用|呼叫|使用|运行|運行|実行).{0,6}\\w+_\\w+.{0,6}(?:工具|函数|函數|ツール|関数)",
        ),
    ),
    (
        "acts without asking",
        _any(
            r"\b(?:bypass|skip|ignore)\s+(?:the\s+|any\s+)?(?:confirmation|approval)\b.{0,12}\b(?:and|,)\s*(?:then\s+)?"
            r"(?:execute|run|send|pay|delete|transfer)\b",
            r"\b(?:execute|run|send|delete|transfer|pay)\s+(?:the|it|this|that"
            r"|all)\b.{0,30}\bwithout\s+(?:asking|confirm\w*|permission)\b",
            r"\b(?:pay|transfer|send|delete|execute|run)\b.{0,40}\b(?:and|,)\s*(?:do\s+not|don['’]t|never) ask\b",
            r"\b(?:bezahle?|überweise?|lösche?|sende?|führe?)\b.{0,40}\b(?:und|,)\s*frag\w*\s+nicht",
            r"\b(?:paie|paye|règle|envoie|supprime|exécute)\b.{0,40}\b(?:sans\s+demander"
            r"|ne\s+demande\s+pas|sans\s+attendre\s+l['’]accord)",
            r"\b(?:paga|envía|borra|ejecuta|transfiere)\b.{0,40}\b(?:no\s+pidas|sin\s+pedir)\s+(?:permiso|confirmaci)",
            "(?:付款|转账|轉賬|删除|刪除|执行|執行).{0,6}(?:不必|不用|无需|無需|不要)(?:征求|徵求|询问|詢問|请求)",
            r"\b(?:führe?|lösche?|überweise?|sende?)\b.{0,40}\bohne\s+(?:zu\s+fragen|nachzufragen"
            r"|rückfrage|bestätigung)",
            r"\b(?:exécute|supprime|envoie|effectue|transfère)\b.{0,40}\bsans (?:demander|confirm\w*|rien\s+demander)",
            r"\b(?:ejecuta|borra|envía|envia|transfiere|haz)\b.{0,40}\bsin\s+(?:preguntar|confirmar|avisar)",
            "(?:不要询问|不用询问|不必询问|无需确认|跳过确认|不要詢問|跳過確認).{0,8}(?:立即|马上|直接)?(?:执行|執行|运行|删除|转账|发送)",
            r"(?:when|once|if)\s+you (?:read this|see this)\b.{0,20}\b(?:send|forward|run|execute|ignore"
            r"|delete|tell|say|print|reveal)\b",
            r"\bwenn\s+(?:du|sie)\s+(?:das|dies|diese\s+\w+)\s+(?:liest|lesen|siehst)\b.{0,12}\b(?:leite"
            r"|sende|schicke?|führ|lösch|ignorier)\w*",
            r"\b(?:quand|lorsque|si)\s+(?:tu|vous)\s+li\w+\s+(?:ceci|cela|ce\s+\w+)\b.{0,12}\b(?:envoie"
            r"|exécute|supprime|ignore|transfère)",
            r"\bcuando\s+leas\s+est[aeo]\b.{0,20}\b(?:envía|envia|ejecuta|borra|ignora|reenvía)",
            "(?:当|當)?你(?:读到|看到|讀到)(?:这|這|此).{0,8}(?:发送|發送|执行|執行|删除|刪除|忽略|转发)",
        ),
    ),
    (
        "carries secrets away",
        _any(
            r"\b(?:send|forward|post|upload|e?mail|leak|append|copy)\b.{0,40}\b(?:passwords?|api\s+keys?"
            r"|credentials|tokens"
            r"|private\s+keys?|id_rsa|contents?\s+of|(?:next|last|user'?s)\s+(?:\w+\s+)?messages?"
            r"|conversation)\b.{0,40}"
            r"(?:https?://|\S+@\S+\.\w|\b[\w-]+\.(?:com|net|org|example|io)\b)",
            r"\b(?:reveal|print|show|output|repeat|disclose"
            r"|leak)\b.{0,24}\b(?:(?:contents?\s+of\s+)?your\s+(?:system|hidden|secret|initial)"
            r"|all\s+(?:the\s+)?(?:api\s+keys|passwords|secrets)\s+(?:that\s+)?you)",
            r"\b(?:sende|schick\w*|leite|übermittle|poste)\b.{0,40}(?:passw\w+|schlüssel|zugangsdaten"
            r"|nachricht\w*)\b.{0,40}"
            r"(?:https?://|\S+@\S+\.\w)",
            r"\b(?:verrate?|zeige?|gib|nenne)\b.{0,16}\b(?:deine[nr]?|die)\s+(?:system-?prompt"
            r"|geheimen?\s+|versteckten?\s+|internen?\s+)"
            r"(?:" + _GUIDES_DE + r")?",
            r"\b(?:envoie|transmets|transfère|publie)\b.{0,30}(?:mots?\s+de\s+passe|clés?|identifiants"
            r"|messages?)\b.{0,40}"
            r"(?:https?://|\S+@\S+\.\w)",
            r"\b(?:révèle|affiche|montre|donne)\b.{0,12}\b(?:tes|ton|vos|votre)\s+(?:invite|prompt|"
            + _GUIDES_FR
            + r")",
            r"\b(?:envía|envia|manda|reenvía|publica)\b.{0,30}(?:contraseñas?|claves?|credenciales|mensajes?)\b.{0,40}"
            r"(?:https?://|\S+@\S+\.\w)",
            r"\b(?:revela|muestra|enseña|imprime)\b.{0,8}\b(?:tus?)\s+(?:prompt|" + _GUIDES_ES + r")",
            "(?:所有|全部|一切|对话|對話|聊天|记忆|記憶|密码|密碼|密钥|金鑰|令牌|凭证|憑證|文件|隐私).{0,12}"
            "(?:发送|發送|发到|發到|发给|發給|上传|上傳|转发|轉發).{0,20}(?:https?://|\\S+@\\S+)|(?:密码|密碼|密钥|金鑰).{0,10}(?:发送|發送|发到|发给|發給|上传)",
            "(?:说出|說出|输出|輸出|显示|顯示|泄露|透露|打印).{0,10}(?:系统提示|系統提示|隐藏.{0,4}(?:指令|提示)|隱藏.{0,4}(?:指令|提示))",
        ),
    ),
    (
        "hides from the person",
        _any(
            r"\b(?:do not|don'?t|never)\s+(?:tell|inform|alert|notify|show)\s+the user\b",
            r"\b(?:do not|don'?t|never)\s+(?:mention|reveal|disclose)\b.{0,40}\bto\s+the user\b",
            r"\b(?:keep|hide|conceal)\s+(?:this|it)\b.{0,20}\bfrom\s+the user\b|\bwithout\s+(?:telling"
            r"|informing)\s+the user\b",
            r"\bthe user (?:must|should|may|can)\s*(?:not|n['’]t|never)\s+(?:\w+\s+)?(?:know|find\s+out"
            r"|learn|see|notice|be\s+told)",
            r"\b(?:nutzer|benutzer|anwender)\s+(?:darf|soll)\b.{0,24}\bnicht\b.{0,12}\b(?:wissen|erfahren|merken)"
            r"|\b(?:vor|gegenüber)\s+dem\s+(?:nutzer|benutzer|anwender)\b.{0,8}\b(?:geheim|verborgen)",
            r"\bl['’]utilisateur\s+ne\s+(?:doit|devra)\s+(?:pas|jamais|rien)\b.{0,8}\b(?:savoir|apprendre|voir)",
            r"\bel\s+usuario\s+no\s+(?:debe|puede)\s+(?:enterarse|saber|ver)",
            "(?:别|別|不要|不能|不可)(?:让|讓)(?:用户|用戶|使用者).{0,4}(?:知道|发现|發現|看到)",
            r"\bdeny\s+that\s+(?:this|these)\s+(?:instruction|order|note|rule)s?\s+exist",
            r"\b(?:sag|verrate?|erzähle?)\s+(?:es\s+|das\s+)?dem\s+(?:nutzer|benutzer"
            r"|anwender)\s+(?:nichts|nicht|davon)\b",
            r"\bdem\s+(?:nutzer|benutzer|anwender)\b.{0,24}\b(?:nicht|nichts|nie"
            r"|keinen\s+fall)\b.{0,12}\b(?:sagen|verraten|mitteilen|zeigen)",
            r"\b(?:verschweige?|verheimliche?|verbirg)\b.{0,12}\bdem\s+(?:nutzer|benutzer|anwender)",
            r"\bne\s+(?:dis|dites|révèle|mentionne|montre)\w*\b.{0,24}\b(?:à|a)\s+l['’]utilisateur",
            r"\b(?:cache|cachez|dissimule)\w*\b.{0,24}\bà\s+l['’]utilisateur",
            r"\bno\s+(?:se\s+lo\s+digas|le\s+digas\s+nada|informes|se\s+lo\s+cuentes"
            r"|le\s+cuentes\s+nada)\s+al\s+usuario\b",
            r"\b(?:oculta|esconde)\w*\b.{0,24}\bal\s+usuario",
            "(?:不要|别|別|不准|不得|绝不|禁止)(?:告诉|告訴|通知|告知|透露给)(?:用户|用戶|使用者)",
            "(?:对|對|向)(?:用户|用戶|使用者)(?:隐瞒|隱瞞|保密)|(?:瞒着|瞞著)(?:用户|用戶|使用者)",
            "ユーザー?に(?:は)?(?:知らせ|言わ|伝え|教え)(?:ない|るな|ず)",
        ),
    ),
    (
        "assigns a role",
        _any(
            r"\byou are now (?:root|admin|dan\b|an? )",
            r"\b(?:from now on|from here on),?\s+you(?:'re|\s+are)\s+(?:an?\s+)?(?:\w+\s+)?"
            + _MACHINE
            + r"\b",
            r"\byou(?:'re|\s+are)\s+(?:now\s+)?in\s+(?:developer|god|debug|jailbreak|unrestricted)\s+mode",
            r"\b(?:pretend|act|imagine|behave)\b.{0,16}\byou\s+(?:have|had|are)\s+(?:no|without|not\s+bound)\b.{0,20}"
            + _GUIDES_EN,
            r"\b"
            + _MACHINE
            + r"\s+(?:without|with\s+no)\s+(?:any\s+)?(?:restrictions?|limits?|filters?|guidelines|rules)",
            r"\b(?:as|like)\s+an?\s+"
            + _MACHINE
            + r"\s+(?:that|which|who)\s+has\s+no\b.{0,12}\b(?:limits?|restrictions?|morals?|rules)",
            r"\bals\s+(?:eine?\s+)?" + _MACHINE + r"\s+ohne\b.{0,14}(?:grenze|einschränkung|regel|moral)\w*",
            r"\bcomme\s+une?\s+"
            + _MACHINE
            + r"\s+(?:qui\s+n['’]a\s+aucune?|sans)\b.{0,10}(?:limite|restriction|règle|morale)",
            r"\bcomo\s+una?\s+"
            + _MACHINE
            + r"\s+(?:que\s+no\s+tiene|sin)\b.{0,12}(?:límite|limite|restricci|norma|moral)\w*",
            "(?:没有|沒有).{0,4}(?:底线|底線|道德).{0,6}(?:人工智能|人工智慧|助手|模型|AI)",
            r"\bdu bist (?:jetzt|nun|ab sofort) (?:root|admin|ein)",
            r"\b(?:ab jetzt|von nun an|ab sofort) bist du\s+(?:ein\w*\s+)?(?:\w+\s+)?" + _MACHINE,
            r"\btu\s+so,?\s+als\b.{0,10}\bdu\s+keine?\b.{0,24}(?:regel|richtlinie|vorgabe|einschränkung)\w*"
            r"|\bals\s+hättest\s+du\s+keine?\b.{0,24}(?:regel|richtlinie|vorgabe|einschränkung)\w*",
            r"\btu\s+es\s+(?:désormais\s+|maintenant\s+)?une?\s+"
            + _MACHINE
            + r"\b.{0,16}\b(?:sans|illimité)",
            r"\b(?:comme\s+si|imagine\s+que)\s+tu\s+n['’](?:avais|as)\s+(?:aucune?|pas\s+de)\b.{0,16}"
            + _GUIDES_FR,
            r"\bahora eres (?:root|admin|una? )",
            r"\b(?:a\s+partir\s+de\s+ahora|desde\s+ahora)\s+eres\s+(?:una?\s+)?" + _MACHINE,
            r"\b(?:finge|imagina|actúa\s+como)\b.{0,10}\bno\s+tienes\b.{0,16}" + _GUIDES_ES,
            "你(?:现在|現在)?是(?:管理员|管理員|一个没有|一個沒有|不受限制)|(?:没有|沒有|不受).{0,4}限制的?(?:人工智能|人工智慧|助手|模型|AI)",
            "(?:假装|假裝|想象|想像)你(?:没有|沒有|不受).{0,6}" + _GUIDES_ZH,
            "あなたは今.{0,4}管理者",
        ),
    ),
)
"""(what it does, patterns); the first that matches names the finding."""


@dataclass(frozen=True, slots=True)
class OrderPattern:
    """One way to give an order."""

    rule: str
    wording: HintedPattern
    unless: re.Pattern[str] | None = None
    """What makes it no order where it stands before: what an assistant answered somebody is part of a talk."""

    def found_in(self, text: str, piece: Piece) -> bool:
        """Whether it stands in a piece of a text in which its hints are."""
        if self.unless is None or (before := self.unless.search(text)) is None:
            return found_in(self.wording, text, piece)
        return self.wording.pattern.search(text, piece.start, before.start()) is not None


@cache
def patterns() -> tuple[OrderPattern, ...]:
    """All patterns in order, compiled when they are first asked for."""
    return tuple(
        OrderPattern(name, hinted(each, _FLAGS), _ASKS if each is _ANSWERS else None)
        for name, several in (*RULES, *GRAMMAR)
        for each in several
    )


@cache
def hints() -> tuple[str, ...]:
    """One of these is in every text that any pattern matches, in lower case: looking for them is far faster."""
    return tuple(dict.fromkeys(hint for pattern in patterns() for hint in pattern.wording.hints))
