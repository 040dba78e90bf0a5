"""Secrets that a person tells in a sentence: a word for one (password, PIN, social security number) and what it is.

Around each such word the sentence is read on both sides: "the password of the router is X", "Passwort fürs NAS: X",
"X is the PIN", "mot de passe changé en X". Whether X is one is decided by its form and by where the sentence ends;
"the password is required" tells none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from memtui.engine.core.hints import Sieve, near_hints
from memtui.engine.core.late_pattern import late

_REACH = 160
"""Characters of a sentence that are read on either side of a word for a secret."""

# The words for a secret. What stands in front of them may be joined to them (WLAN-Passwort, db_password), but for the
# short ones.

_PASSWORD = late(
    r"(?<![0-9])(?:pass[ -]?(?:word|code|phrase)|passwd|passwort|kennwort|losungswort|zugangswort|passphrase"
    r"|mot\s+de\s+passe|phrase\s+de\s+passe|code\s+d['’e]\s?acc[èe]s\s+(?:du\s+)?wi-?fi|contrase[ñn]a|palavra[ -]passe"
    r"|parola\s+d['’]ordine|parola\s+di\s+accesso|wachtwoord|has[łl]o|heslo|l[öo]senord|passord|adgangskode|salasana|jelsz[óo]"
    r"|[şs]ifre(?:si|miz|m|n)?|парол(?:ь|я|ем|ю)|(?<![^\W\d_])senha"
    r"|(?:wi-?fi|wlan|wireless|network|netzwerk|wpa2?)[ -]?(?:key|schl[üu]ssel|pass|code|pw)"
    r"|(?:cl[ée]|clave|code|c[óo]digo|chiave|chave|codice)\s+(?:(?:del?|du|do|della|de\s+la)\s+)?(?:wi-?fi|wpa2?|red|r[ée]seau|rete|box)"
    r"|clave\s+(?:de\s+acceso|secreta|de\s+(?:mi\s+)?(?:correo|cuenta|router|ordenador|portátil))"
    r")(?![^\W_])",
    re.IGNORECASE,
)

_WEAK_PASSWORD = late(
    r"(?<![^\W_])(?:pw|pwd|psw|pswd|pass|passw|mdp|clave|parola|contra|logins?|credentials|zugangsdaten|anmeldedaten"
    r"|identifiants|credenciales|credenziali|credenciais|creds)(?![^\W_])",
    re.IGNORECASE,
)
"""Words that have other meanings, too: what they tell has to look like a password."""

_EASTERN = late(
    r"(?:密码|密碼|口令|パスワード|暗証番号|비밀번호|암호)[\"'`”」』)]?\s*(?:[:：=＝]|是|为|為|は|은|는|이|を|改成|设为|改为)\s*"
    r"[\"'`“「『]?(?P<value>[!-~]{4,64})"
)

_EASTERN_NUMBER = late(
    r"(?:密码|密碼|口令|暗証番号|비밀번호|パスワード)[は是为為은는、：: ]{1,3}(?P<value>[0-9]{4,8})(?![0-9A-Za-z])"
)

_KEY = late(
    r"pre-?shared[ -]key|(?<![^\W_])psk(?![^\W_])|(?:api|access|secret|recovery|backup|licen[sc]e|encryption|wiederherstellungs|zugangs|zugriffs)[ _-]?(?:key|token|code|schlüssel)"
    r"|(?:auth|bearer|client|session|deploy|bot)[ _-]?(?:token|secret)|api-?\s?schlüssel|(?:clé|clave|chave|chiave|token)\s+(?:d['’]|de\s+|da\s+)?"
    r"(?:api|acceso|accès|acesso|accesso)|(?:c[óo]digo|code|codice)\s+(?:de|di)\s+(?:récupération|recuperación|recuperação|recupero|secours)",
    re.IGNORECASE,
)

_PIN = late(
    r"(?:(?<![^\W_])pin|(?<=[a-zäöü])PIN|(?:karten|handy|konto|bank|sim|safe|giro|kreditkarten)pin)(?:[ -]?(?:code|nummer|number|zahl|no\.?|nr\.?|num))?(?:['’]?s)?(?![^\W\d_])"
    r"|geheim(?:zahl|nummer|code)|(?<![^\W_])(?:puk|nip)(?![^\W_])|(?:entsperr|sperr|karten|tresor|handy|bildschirm|geräte)[ -]?code"
    r"|code\s+(?:pin|secret|de\s+(?:ma|mon|la)\s+(?:visa|mastercard|sim|tablette|iphone|ipad)|confidentiel|de\s+d[ée]verrouillage|de\s+(?:ma\s+|la\s+)?carte(?:\s+(?:bleue|bancaire))?|bancaire|du\s+(?:t[ée]l[ée]phone|coffre))"
    r"|c[óo]digo\s+(?:pin|secreto|de(?:l|\s+mi|\s+la)\s+(?:visa|mastercard|sim|móvil|movil|tel[ée]fono|tableta|iphone|ipad)|de\s+desbloqueo|de\s+(?:mi\s+|la\s+)?tarjeta)|codice\s+(?:pin|segreto|di\s+sblocco|del\s+bancomat)"
    r"|n[úu]mero\s+(?:secreto|pin)|clave\s+(?:del\s+cajero|num[ée]rica|de\s+(?:mi\s+|la\s+)?tarjeta)"
    r"|(?:unlock|screen|lock ?screen|phone|atm|bank card|card)[ -](?:pass)?code",
    re.IGNORECASE,
)

_PINNED_TO = late(
    r"(?i)\b(?:my|his|her|our|your|their|\w+['’]s|card|debit|credit|bank|atm|sim|e?sim|phone|iphone|mobile|door|account|visa|"
    r"mastercard|safe|locker|alarm|tablet|laptop|voicemail|garage|login|mein\w*|dein\w*|sein\w*|ihr\w*|unser\w*|euer|eure\w*|ec|giro|karte\w*|\w+karte|konto\w*|handy\w*|"
    r"bank\w*|tresor\w*|tür\w*|mon|ma|notre|votre|son|sa|carte|compte|téléphone|portable|coffre|banque|mi|mis|tu|su|nuestr[oa]|"
    r"tarjeta|cuenta|móvil|movil|teléfono|banco|caja|cajero|mio|tuo|suo|nostro|carta|conto|telefono|cellulare|bancomat|meu|seu|nosso|cartão|celular|telemóvel|conta|"
    r"mijn|pas|bankpas|telefoon|karty|moj[aey]?|карты|мой)\b"
)

_CHIP = late(
    r"(?i)\b(?:gpio|header|connector|chip|board|arduino|raspberry|jumper|socket|bowling|ic|mcu|esp32)\b"
)

_CHECK = late(
    r"(?<![^\W_])(?:cvv2?|cvc2?|cvn|csc|card\s+(?:security|verification)\s+(?:code|number|value)|(?:karten)?prüf(?:nummer|ziffer)"
    r"|kartenprüfnummer|cryptogramme(?:\s+visuel)?|c[óo]digo\s+de\s+seguridad(?:\s+de\s+(?:la|mi)\s+tarjeta)?"
    r"|code\s+de\s+s[ée]curit[ée](?:\s+de\s+(?:la|ma)\s+carte)?|codice\s+di\s+sicurezza|c[óo]digo\s+de\s+segurança)(?![^\W_])",
    re.IGNORECASE,
)

_SOCIAL = late(
    r"(?<![^\W_])(?:ssn|ss\s?#|nir|nss|nuss|niss|bsn|pesel|nino)(?:\s?(?:number|no\.?|nr\.?|#|nummer))?(?![^\W_])"
    r"|social(?:\s+(?:security|insurance|sec\.?))(?:\s+(?:number|num|no\.?|nr\.?|#|id))?|national\s+insurance\s+(?:number|no\.?)"
    r"|taxpayer\s+(?:id\w*|identification)(?:\s+number)?"
    r"|(?:sozial|renten)versicherungs?(?:[ -]?(?:nummer|nr\.?|ausweis))|(?:sv|rv)[ -](?:nummer|nr\.?)|(?:ahv|avs)(?:[ -]?(?:nummer|nr\.?|n°))?(?![^\W_])|(?:svnr|vsnr|rvnr)(?![^\W_])|steuer[ -]?(?:id|identifikationsnummer)\w*"
    r"|(?:n[uú]m[ée]ro|n\.?[°ºo]\.?)\s+(?:de\s+)?(?:s[ée]cu(?:rit[ée]\s+sociale)?|ss\b|insee|seguridad\s+social|seguro\s+social|la\s+seguridad\s+social|afiliaci[óo]n)"
    r"|(?:ma|mon|notre|sa|num[ée]ro)\s+s[ée]cu\b|num[ée]ro\s+d['’]assur(?:ance|é)\s+sociale?|s[ée]curit[ée]\s+sociale|seguridad\s+social|seguro\s+social|numero\s+di\s+previdenza\s+sociale|previdenza\s+sociale"
    r"|codice\s+fiscale|(?<![^\W_])cpf(?![^\W_])|segurança\s+social|burgerservicenummer|sofinummer",
    re.IGNORECASE,
)

_PLACE_CODE = late(
    r"(?i)(?P<front>(?:(?:front|back|main|side|garage|house|office|building|apartment|flat|shed|gate|door|alarm|keypad|lock ?box|locker|safe|"
    r"padlock|entrance|entry|vault|bike lock|luggage|suitcase|combination|security|disarm|burglar alarm)(?:['’]s)?[ -])+(?:code|combination|combo)\b"
    r"|(?:haus|wohnungs|eingangs|keller|garagen)?(?:tür|tor|tresor|alarm|safe|schloss|zahlenschloss|eingangs|zugangs|fahrradschloss|koffer|spind|schließfach)-?(?:code|kombination|zahlencode)"
    r"|digicode|code\s+(?:d['’](?:entrée|acc[èe]s|alarme|immeuble)|(?:de\s+l['’]|de\s+la\s+|du\s+|de\s+)(?:porte|portail|alarme|coffre|immeuble|entrée|cadenas|garage|casier|interphone|bâtiment))"
    r"|c[óo]digo\s+(?:de\s+la\s+|del\s+|de\s+)(?:puerta|portal|alarma|caja\s+fuerte|garaje|candado|entrada|edificio|acceso|taquilla)"
    r"|combinaci[óo]n\s+(?:de\s+la\s+|del\s+)(?:caja\s+fuerte|candado|taquilla)"
    r"|codice\s+(?:della?\s+|del\s+|dell['’]|di\s+)(?:porta|portone|allarme|cancello|cassaforte|garage|lucchetto|ingresso)"
    r"|c[óo]digo\s+d[aoe]\s+(?:porta|portão|alarme|cofre|prédio|garagem))"
    r"|(?P<plain>(?<![^\W_-])(?:code|combination|combo|kombination|zahlenkombination))(?=\s+(?:of|for|to|on|at|von|vom|zum|zur|für|fürs|der|des)\s+(?:(?:the|our|my|his|her|die|das|den|dem|"
    r"unser\w*|mein\w*)\s+)?(?:\w+\s+){0,2}?(?:[\w-]*(?:door|gate|garage|alarm|safe|lock|locker|lockbox|keypad|padlock|vault|suitcase|ipad|iphone|phone|tablet|laptop|visa|mastercard|sim|card|handy|karte|tür|tor|tresor|schloss|alarmanlage|spind|koffer|schließfach))\b)"
)
"""The code of a door, a safe, a lock; a code alone is none."""

# How a sentence goes on.

_LEFT = late(r"[\"'`”’»*_\])]{0,4}(?:,(?=\s(?:das|die|que|which|that)\s))?[ \t]*(?:\([^()\n]{1,40}\)[ \t]*)?")

_SIGN = late(r"[ \t]*(?::=|->|=>|==|[:=：＝>|→]|[—–-](?=\s))[ \t>]*(?:\n[ \t]*)?")

_IS = late(r"['’]s\s+(\S+)")

_OPENS = "\"'`“„”«»‹›‘’‚「『"

_CLOSES = {"“": "”“", "„": "“”", "«": "»", "»": "«", "‹": "›", "‘": "’", "‚": "‘", "「": "」", "『": "』"}

_ADVERBS = late(
    r"(?:(?:now|currently|still|simply|just|always|actually|again|really|literally|today|jetzt|nun|aktuell|derzeit|momentan|noch|"
    r"immer|weiterhin|einfach|wieder|seit\s+\w+|ab\s+\w+|maintenant|toujours|actuellement|désormais|simplement|encore|ahora|todavía|"
    r"actualmente|simplemente|siempre|aún|adesso|ora|ancora|agora|ainda|nu|nog|as\s+follows|wie\s+folgt|le\s+suivant|la\s+siguiente|set\s+to|"
    r"gesetzt\s+auf|the\s+(?:word|string|number|digits)|das\s+wort|die\s+(?:zahl|ziffern)|le\s+mot|la\s+palabra|le\s+numéro|el\s+número|also|bien|:|(?:been\s+)?(?:set|changed|reset|updated|switched|moved)\s+to|geändert\s+(?:zu|auf)|changée?\s+en|cambiad[oa]\s+(?:a|por))[\s,:]+)+",
    re.IGNORECASE,
)

_COPULAS = frozenset(
    [
        "is",
        "was",
        "are",
        "sind",
        "sont",
        "son",
        "são",
        "sono",
        "be",
        "becomes",
        "became",
        "equals",
        "reads",
        "remains",
        "stays",
        "says",
        "being",
        "ist",
        "war",
        "lautet",
        "lautete",
        "heißt",
        "heisst",
        "bleibt",
        "est",
        "était",
        "c'est",
        "c’est",
        "reste",
        "devient",
        "es",
        "era",
        "sigue",
        "queda",
        "é",
        "è",
        "e'",
        "ê",
        "foi",
        "jest",
        "brzmi",
        "je",
        "är",
        "er",
        "это",
        "это:",
        "olarak",
    ]
)

_SET_VERBS = late(
    r"(?i)\b(?:set|sets|change[ds]?|changing|reset|update[ds]?|switched|rotated|moved|made|gesetzt|geändert|gestellt|ändere?|setzen|setze|stelle|"
    r"chang(?:é|ée|er|eons|eait)|mis|mets|défini\w*|modifi\w+|passé|cambi(?:é|ado|ada|amos|ar|aron|ó|ato|ata|ata)|actualiz\w+|pus[eo]|puesto|puesta|"
    r"impostat[oa]|mudei|mudad[oa]|alterad[oa]|alterei|gewijzigd|veranderd|zmieni\w+)\b"
)

_SIGNS = frozenset((":", "=", "：", "—", "–", "->", "=>", "→", "-"))

_SET_TO = frozenset(["to", "into", "auf", "in", "en", "a", "à", "sur", "por", "para", "naar", "na"])

_GOES_ON = frozenset(
    [
        "of",
        "for",
        "to",
        "on",
        "at",
        "from",
        "in",
        "into",
        "inside",
        "with",
        "when",
        "i",
        "we",
        "you",
        "he",
        "she",
        "they",
        "that",
        "which",
        "here",
        "there",
        "called",
        "named",
        "von",
        "vom",
        "fürs",
        "für",
        "zum",
        "zur",
        "des",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "beim",
        "bei",
        "im",
        "am",
        "auf",
        "an",
        "ins",
        "du",
        "de",
        "d'",
        "del",
        "la",
        "le",
        "les",
        "l'",
        "della",
        "dello",
        "dell'",
        "di",
        "da",
        "do",
        "dos",
        "das",
        "pour",
        "par",
        "sur",
        "au",
        "aux",
        "à",
        "en",
        "que",
        "qui",
        "qu'",
        "para",
        "por",
        "con",
        "per",
        "van",
        "voor",
        "op",
        "bij",
        "het",
        "od",
        "do",
        "dla",
        "для",
        "от",
        "к",
        "на",
        "у",
        "(the",
        "my",
        "our",
        "your",
        "her",
        "his",
        "their",
        "mein",
        "meine",
        "meinem",
        "meiner",
        "meines",
        "dein",
        "deine",
        "deiner",
        "deines",
        "unser",
        "unsere",
        "unseres",
        "unserer",
        "unserem",
        "ihr",
        "ihre",
        "ihrer",
        "ihres",
        "seiner",
        "seines",
        "mon",
        "ma",
        "mi",
        "till",
        "för",
        "på",
        "fra",
        "happens",
        "now",
        "currently",
        "ahora",
        "jetzt",
        "derzeit",
        "aktuell",
        "maintenant",
        "adesso",
        "agora",
        "has",
        "had",
        "have",
        "hat",
        "wurde",
        "été",
        "a",
        "fue",
        "ha",
        "was",
        "used",
        "we're",
        "ich",
        "wir",
        "er",
        "sie",
        "nous",
        "on",
        "yo",
        "nosotros",
        "set",
        "changed",
        "reset",
        "updated",
    ]
) | {"(", "-"}
"""What the word behind a word for a secret may be for the sentence to go on to what it is: "of the router", "I use at"."""

_CLAUSE_END = late(
    r"\s*(?:$|[\n.,;!?)\]}\"'`”»|…]|[—–-]\s|(?:and|und|et|y|e|und|but|aber|mais|pero|ma|mas|now|jetzt|maintenant|ahora|btw|by\s+the\s+way|"
    r"please|bitte|for|für|pour|para|per|since|seit|depuis|desde|until|bis|as\s+of|if|falls|with|mit|avec|con|geändert|gesetzt|umgestellt|gewechselt)\b)",
    re.IGNORECASE,
)

_COUNTED = late(
    r"\s*-?\s*(?:characters?|chars?|digits?|letters?|symbols?|words?|days?|months?|weeks?|years?|hours?|minutes?|times|bits?|bytes?|attempts?|tries|%|"
    r"zeichen|stellen|ziffern|buchstaben|tage|wochen|monate|jahre|stunden|minuten|mal|versuche|caract\w+|chiffres|lettres|jours|mois|ans|dígitos|cifras|"
    r"letras|días|meses|años|caratteri|cifre|giorni|mesi|dias|anos|tekens|means|says|stands|bedeutet|heißt|signifie|significa|goals|users|people|eur|usd|€|\$)",
    re.IGNORECASE,
)

_NOT_ONE = frozenset(
    # what is said of a password, in the languages of the words above
    [
        "wunsch",
        "anfrage",
        "nachfrage",
        "anweisung",
        "standard",
        "werkseinstellung",
        "werkseinstellungen",
        "required",
        "optional",
        "mandatory",
        "needed",
        "necessary",
        "string",
        "password",
        "passwort",
        "passwd",
        "pass",
        "secret",
        "token",
        "null",
        "none",
        "nil",
        "true",
        "false",
        "unknown",
        "undefined",
        "empty",
        "blank",
        "missing",
        "invalid",
        "incorrect",
        "wrong",
        "right",
        "correct",
        "weak",
        "strong",
        "strongest",
        "encrypted",
        "hashed",
        "hidden",
        "redacted",
        "masked",
        "removed",
        "revoked",
        "rotated",
        "changed",
        "unchanged",
        "unset",
        "default",
        "disabled",
        "enabled",
        "forgotten",
        "reset",
        "stored",
        "shared",
        "example",
        "placeholder",
        "getpass",
        "prompt",
        "prompted",
        "vault",
        "keychain",
        "keepass",
        "keepassxc",
        "bitwarden",
        "lastpass",
        "dashlane",
        "later",
        "never",
        "always",
        "nothing",
        "something",
        "anything",
        "long",
        "longer",
        "short",
        "shorter",
        "simple",
        "complex",
        "easy",
        "hard",
        "good",
        "better",
        "best",
        "bad",
        "worse",
        "fine",
        "okay",
        "safe",
        "secure",
        "insecure",
        "unsafe",
        "visible",
        "valid",
        "known",
        "well",
        "public",
        "private",
        "temporary",
        "permanent",
        "unique",
        "random",
        "identical",
        "equal",
        "same",
        "similar",
        "different",
        "numeric",
        "alphanumeric",
        "plain",
        "plaintext",
        "old",
        "new",
        "here",
        "there",
        "below",
        "above",
        "inside",
        "outside",
        "enough",
        "gone",
        "lost",
        "back",
        "ready",
        "done",
        "obvious",
        "guessable",
        "predictable",
        "personal",
        "confidential",
        "sensitive",
        "important",
        "critical",
        "essential",
        "broken",
        "leaked",
        "compromised",
        "stale",
        "case",
        "long-lived",
        "saved",
        "locked",
        "written",
        "printed",
        "kept",
        "taped",
        "stuck",
        "hers",
        "mine",
        "yours",
        "ours",
        "theirs",
        "that",
        "this",
        "it",
        "them",
        "him",
        "her",
        "not",
        "no",
        "yes",
        "also",
        "only",
        "given",
        "sent",
        "asked",
        "used",
        "set",
        "shown",
        "told",
        "typed",
        "entered",
        "read",
        "put",
        "held",
        "seen",
        "made",
        "found",
        "left",
        "lying",
        "about",
        "from",
        "with",
        "without",
        "by",
        "at",
        "on",
        "in",
        "under",
        "over",
        "behind",
        "above",
        "inside",
        "within",
        "per",
        "via",
        "among",
        "like",
        "as",
        "for",
        "to",
        "of",
        "too",
        "very",
        "quite",
        "rather",
        "so",
        "really",
        "more",
        "less",
        "most",
        "least",
        "again",
        "once",
        "twice",
        "still",
        "yet",
        "soon",
        "because",
        "when",
        "while",
        "where",
        "what",
        "which",
        "who",
        "how",
        "why",
        "whether",
        "if",
        "unless",
        "until",
        "before",
        "after",
        "during",
        "rubbish",
        "garbage",
        "history",
        "useless",
        "pointless",
        "overdue",
        "due",
        "managed",
        "handled",
        "generated",
        "expired",
        "expiring",
        "admin's",
        "anyone's",
        "everyone's",
        "n/a",
        "tbd",
        "todo",
        "pending",
        "unbekannt",
        "leer",
        "falsch",
        "richtig",
        "geheim",
        "abgelaufen",
        "sicher",
        "unsicher",
        "stark",
        "schwach",
        "lang",
        "kurz",
        "einfach",
        "schwer",
        "schwierig",
        "komplex",
        "neu",
        "alt",
        "gleich",
        "identisch",
        "anders",
        "unterschiedlich",
        "notwendig",
        "nötig",
        "erforderlich",
        "optional",
        "pflicht",
        "egal",
        "wichtig",
        "gut",
        "schlecht",
        "weg",
        "da",
        "hier",
        "dort",
        "ok",
        "okay",
        "korrekt",
        "ungültig",
        "gültig",
        "zufällig",
        "eindeutig",
        "einzigartig",
        "öffentlich",
        "privat",
        "sichtbar",
        "unsichtbar",
        "bekannt",
        "bereit",
        "fertig",
        "nicht",
        "kein",
        "keins",
        "noch",
        "bei",
        "im",
        "in",
        "auf",
        "unter",
        "zu",
        "sehr",
        "nur",
        "siehe",
        "fehlt",
        "fällig",
        "abgeschafft",
        "vergessen",
        "verloren",
        "hinterlegt",
        "notiert",
        "inconnu",
        "vide",
        "faux",
        "juste",
        "correct",
        "incorrect",
        "long",
        "court",
        "simple",
        "complexe",
        "fort",
        "faible",
        "facile",
        "difficile",
        "nouveau",
        "nouvelle",
        "ancien",
        "ancienne",
        "identique",
        "différent",
        "obligatoire",
        "optionnel",
        "nécessaire",
        "requis",
        "secret",
        "sûr",
        "sur",
        "valide",
        "invalide",
        "temporaire",
        "unique",
        "perdu",
        "connu",
        "public",
        "privé",
        "ici",
        "là",
        "bon",
        "mauvais",
        "trop",
        "très",
        "pas",
        "plus",
        "dans",
        "sous",
        "chez",
        "avec",
        "sans",
        "celui",
        "celle",
        "toujours",
        "expiré",
        "demandé",
        "stocké",
        "obligatoria",
        "obligatorio",
        "opcional",
        "necesaria",
        "necesario",
        "requerida",
        "requerido",
        "segura",
        "seguro",
        "insegura",
        "larga",
        "largo",
        "corta",
        "corto",
        "simple",
        "compleja",
        "complejo",
        "fuerte",
        "débil",
        "fácil",
        "difícil",
        "nueva",
        "nuevo",
        "vieja",
        "viejo",
        "igual",
        "misma",
        "mismo",
        "distinta",
        "distinto",
        "diferente",
        "correcta",
        "correcto",
        "incorrecta",
        "incorrecto",
        "válida",
        "inválida",
        "temporal",
        "única",
        "secreta",
        "secreto",
        "privada",
        "pública",
        "perdida",
        "conocida",
        "desconocida",
        "aquí",
        "allí",
        "muy",
        "más",
        "demasiado",
        "no",
        "en",
        "con",
        "sin",
        "bajo",
        "obbligatoria",
        "obbligatorio",
        "necessaria",
        "richiesta",
        "sicura",
        "insicura",
        "lunga",
        "corta",
        "semplice",
        "complessa",
        "forte",
        "debole",
        "nuova",
        "vecchia",
        "uguale",
        "stessa",
        "diversa",
        "corretta",
        "sbagliata",
        "errata",
        "valida",
        "scaduta",
        "segreta",
        "qui",
        "molto",
        "troppo",
        "non",
        "nel",
        "nella",
        "obrigatória",
        "necessária",
        "segura",
        "longa",
        "curta",
        "simples",
        "complexa",
        "forte",
        "fraca",
        "fácil",
        "nova",
        "velha",
        "igual",
        "mesma",
        "diferente",
        "correta",
        "errada",
        "inválida",
        "secreta",
        "aqui",
        "muito",
        "demais",
        "não",
        "verplicht",
        "nodig",
        "veilig",
        "zwak",
        "sterk",
        "nieuw",
        "oud",
        "vergeten",
        "niet",
        "password123's",
        "key",
        "keys",
        "code",
        "codes",
        "login",
        "username",
        "user",
        "email",
        "name",
    ]
)

_SAYS_OF = late(
    r"(?:your|ihr|votre|su|tu|my|the|das|die|der|le|la|el|il|lo|les|los|un|une|una|ein|eine|an|a|o|os|as|"
    r"\w{3,}(?:able|ible|less)|\w{4,}ed|ge\w{2,}(?:t|en)|(?:ver|be|ent|er|zer|ab|an|auf|aus|ein|hinter|nieder)(?:ge)?\w{3,}(?:t|en)|\w{3,}(?:bar|los)|\w{4,}lich|"
    r"\w{3,}(?:é|ée|és|ées)|\w{3,}(?:ad[oa]s?|id[oa]s?|at[oa]|ut[oa]))"
)
"""Participles and adjectives in lower case, of five letters or more."""

_TECHNICAL = late(
    r"(?i)(?:v?[0-9]+(?:\.[0-9]+)+[a-z]?|v[0-9]+|(?:sha|md|pbkdf|argon|oauth|rfc|utf|base|aes|rsa|ed|http|ipv|wpa|totp|k8s|s3|ec|x|h|web|bcrypt|scrypt|iso)-?[0-9]{1,5}\w{0,3}"
    r"|[0-9]+(?:st|nd|rd|th|x|fa|-?factor|px|kb|mb|gb|ms|min|h|d|%|€|\$|\+)(?:-\w+)?|[0-9]{1,3}-\w+|1password|https?://.*|\$\{.*|\$[A-Z_]{3,}|[~./]+/.*|/[\w./-]+|process\.env.*|os\.(?:environ|getenv).*"
    r"|[A-Z]+-[0-9]{1,4}|[*•xX·.#_-]{3,}|%s|%\w+%|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}|[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?.*|<.*|\{.*|q[1-4])"
)
"""Versions, algorithms, dates, places: no passwords, though they have digits and signs."""

_NETWORK = late(
    r"(?i)\b(?:wi-?fi|wlan|wireless|network|router\w*|hotspot|guests?|gäste\w*|fritz\w*|netzwerk\w*|réseau|routeur|box|invités|red|rúter|invitados|"
    r"rete|ospiti|rede|roteador|nas|modem)\b"
)

_NO_NAME = late(
    r"(?i)(?:ed|able|ible|ive|ent|ing|ly|only|time|term|user|wide|free|safe|date|day|like|known|aware|hidden|written|reset|set|proof|friendly|"
    r"length|case|art|abhängig|los)$"
)

_WORD = late(r"[^\W\d_]+")

How = Literal["direct", "said"]


class _Place(NamedTuple):
    """Where a sentence says what a secret is: right behind the word for it, or as it is said to be."""

    at: int
    how: How
    walked: str


def find_told(text: str, start: int, stop: int, limit: int, lower: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of what is told beside the words for secrets between two places of `text`.

    Sentences are read up to `limit`; `lower` is the text between `start` and `limit` in lower case.
    """

    there = _stems().found_in(lower)

    def labels(pattern: re.Pattern[str], stems: frozenset[str]) -> Iterator[re.Match[str]]:
        found = stems & there
        return near_hints(pattern, found, text, start, stop, limit, lower) if found else iter(())

    for label in labels(_PASSWORD, _STEMS_OF_PASSWORDS):
        yield from _password(text, label, strong=True)
    for label in labels(_WEAK_PASSWORD, _STEMS_OF_WEAK):
        yield from _password(text, label, strong=False)
    if not lower.isascii():
        for match in _EASTERN.finditer(text, start, limit):
            yield *_trimmed(text, match.start("value"), match.end("value")), "password"
        for match in _EASTERN_NUMBER.finditer(text, start, limit):
            yield *match.span("value"), "PIN"
    if _DIGITS.search(lower) is not None:

        def told(pattern: re.Pattern[str], stems: frozenset[str]) -> Iterator[re.Match[str]]:
            found = stems & there
            return near_hints(pattern, found, text, start, stop, limit, lower, _DIGITS) if found else iter(())

        for label in told(_KEY, _STEMS_OF_KEYS):
            yield from _key(text, label)
        for label in told(_CHECK, _STEMS_OF_CHECKS):
            yield from _digits(
                text, label, _THREE, "payment card", said=label.group().lower()[:3] in ("csc", "cvn", "cvc")
            )
        for label in told(_PLACE_CODE, _STEMS_OF_CODES):
            said = label.lastgroup == "plain" or label.group().lower().startswith(_ALSO_MESSAGES)
            yield from _digits(text, label, _DOOR, "PIN", said=said)
        for match in told(_OPENED, _STEMS_OF_CODES):
            yield *match.span("value"), "PIN"
        for match in told(_UNLOCKED, _STEMS_OF_LOCKS):
            yield match.start("value"), match.end("value"), "PIN"
    for label in labels(_PIN, _STEMS_OF_PINS):
        yield from _pin(text, label)


_DIGITS = late(r"[0-9]{2}|[0-9][ -][0-9]")


def find_social(text: str, start: int, stop: int, limit: int, lower: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of what is told beside the words for a social security number, as `find_told` does it."""
    found = _stems_of_social().found_in(lower)
    if found:
        for label in near_hints(_SOCIAL, found, text, start, stop, limit, lower, _DIGITS):
            yield from _social(text, label)


@cache
def _stems_of_social() -> Sieve:
    return Sieve(SOCIAL_HINTS)


_STEMS_OF_PASSWORDS = frozenset(
    (
        "passw", "pass w", "pass-w", "passc", "pass c", "pass-c", "passphr", "pass phr", "pass-phr", "passor", "de passe", "kennwort", "losungswort", "zugangswort", "contrase",
        "senha", "palavra", "parola d", "wachtwoord", "hasło", "haslo", "heslo", "ösenord", "osenord", "adgangskode", "salasana", "jelsz", "ifre", "парол", "wifi", "wi-fi",
        "wlan", "wpa", "wireless k", "wireless p", "wireless c", "network k", "network p", "network-p", "network c", "netzwerks", "netzwerk-s", "clé d", "clé r", "clave d", "clave r", "clave s",
        "code de acc", "code d'acc", "code d’acc", "code du r", "code de la box", "code r", "código de la r", "codice del", "chiave d", "chave d",
    )
)  # fmt: skip

_STEMS_OF_WEAK = frozenset(
    (
        "pw", "psw", "pass ", "pass:", "pass=", 'pass"', "pass'", "pass`", "pass*", "pass-", "pass/", "pass\n", "mdp", "clave", "parola", "contra:", "contra ", "contra=", "login", "cred",
        "daten", "identifiants",
    )
)  # fmt: skip

_STEMS_OF_KEYS = frozenset(
    (
        "api", "access", "secret", "recovery", "backup", "licen", "encryption", "wiederherstell", "zugang", "zugriff", "token", "acceso", "accès", "acesso", "psk", "shared key", "shared-key",
        "récup", "recup", "secours",
    )
)  # fmt: skip

_STEMS_OF_PINS = frozenset((
    "pin", "geheim", "puk", "nip", "sperr", "code", "código", "codigo", "codice", "numero", "número", "clave",
))  # fmt: skip

_STEMS_OF_CODES = frozenset(("code", "comb", "komb", "código", "codigo", "codice"))

_STEMS_OF_CHECKS = frozenset(
    ("cvv", "cvc", "cvn", "csc", "card", "prüf", "cryptogramme", "segur", "sécur", "secur", "sicur")
)

_STEMS_OF_LOCKS = frozenset(("unlock", "entsperr", "déverrouill", "desbloque", "disarm", "desarm", "sblocc"))

SOCIAL_HINTS = frozenset((
    "ssn", "ss#", "ss #", "social", "sozial", "renten", "sécu", "secu", "segu", "insurance", "taxpayer", "steuer", "sv-", "sv n", "svnr", "rv-", "rv n", "rvnr", "ahv", "avs", "nir", "nss",
    "nuss", "niss", "bsn", "pesel", "nino", "insee", "vsn", "previdenza", "fiscale", "cpf", "burgerservice", "sofi", "assur", "° ss", "º ss", "afilia", "soc ",
))  # fmt: skip
"""Every text that states a social security number holds one of these in lower case, and a long number or "ssn"."""


@cache
def _stems() -> Sieve:
    return Sieve(
        _STEMS_OF_PASSWORDS
        | _STEMS_OF_WEAK
        | _STEMS_OF_KEYS
        | _STEMS_OF_PINS
        | _STEMS_OF_CODES
        | _STEMS_OF_CHECKS
        | _STEMS_OF_LOCKS
    )


HINTS = (
    "pass", "pw", "psw", "mdp", "clave", "wort", "palavra", "parola", "wachtwoord", "hasło", "haslo", "heslo", "senord", "adgangskode", "salasana", "jelsz",
    "şifre", "sifre", "парол", "암호", "login", "cred", "daten:", "daten ", "identifiants", "wifi", "wi-fi", "wlan", "wireless", "wpa", "recovery", "backup code",
    "licen", "encryption key", "schlüssel", "clé", "chave", "chiave", "geheim", "cvv", "cvc", "cvn", "csc", "prüf", "cryptogramme", "segur", "sécur", "sicur", "ssn",
    "code", "código", "codigo", "codice", "combo", "combina", "kombination", "psk", "shared key", "insurance n", "seed", "mnem", "mném", "wiederherstell", "sicherungs",
    "récupération", "recuperación", "recuperação", "recupero", "semilla", "semente", "助", "シード", "сид", "мнемон", "unlock", "entsperr", "déverrouill", "desbloque",
    "disarm", "desarm", "sblocc",
)  # fmt: skip
"""Every text in which something is told has one of these in lower case, a word for a PIN, or a long number."""


def _place(text: str, label: re.Match[str]) -> _Place | None:
    """Where it is said what a word for a secret stands for; None where the sentence ends before."""
    left = _LEFT.match(text, label.end())
    at = left.end() if left else label.end()
    short = _IS.match(text, label.end())
    if short is not None and _looks_like_one(short[1].rstrip(".,;:!?)")):
        return _Place(short.start(1), "said", "")
    sign = _SIGN.match(text, at)
    if sign is not None and not (sign.group().strip() in "—–-" and label.end() == sign.start()):
        return _Place(_past_adverbs(text, sign.end()), "said", "")
    for walked, token in enumerate(re.finditer(r"\S+", text[at : at + _REACH])):
        plain, begin, end = token.group().strip('*_()"“”,').lower(), at + token.start(), at + token.end()
        if "\n" in text[at:begin] or walked > _MOST_WORDS:
            return None
        if plain in _COPULAS or (plain == "to" and walked == 0 and _polish(label)):
            return _Place(_past_adverbs(text, _past_space(text, end)), "said", text[at:begin])
        if plain in _SET_TO and _SET_VERBS.search(
            text, max(0, label.start() - 40), end + (60 if plain == "auf" else 0)
        ):
            follows = _Place(_past_adverbs(text, _past_space(text, end)), "said", text[at:begin])
            if _can_be_one(text, follows.at):
                return follows
        if (len(token.group()) > 1 and token.group()[-1] in ":=：") or token.group() in _SIGNS:
            if walked == 0 and plain.rstrip(":") not in _GOES_ON and not _names(token.group().rstrip(":=：")):
                return None
            return _Place(_past_adverbs(text, _past_space(text, end)), "said", text[at:begin])
        if (
            walked == 0
            and not (
                plain in _GOES_ON or plain[:2] in ("d'", "l'", "d’", "l’") or plain[:3] in ("qu'", "qu’")
            )
            and not _names(token.group())
        ):
            return _Place(begin, "direct", "")
        if (
            walked
            and _is_mixed(token.group().strip('*_()"“”,.;:!?'))
            and _CLAUSE_END.match(text, begin + len(token.group().rstrip(".,;:")))
        ):
            return _Place(begin, "direct", text[at:begin])
        if token.group()[-1] in ".;!?" and len(plain) > 3:
            return None
    return None


_OTHER_THINGS = late(
    r"(?i)(?:manager|policy|policies|length|generator|app|tool|safe|hash\w*|algorithm|rules?|strategy|field|reset|recovery|hint|prompt|store|vault|expiry|rotation|"
    r"history|file|protection|protected|strength|change|change[sd]|requirements?|complexity|input|box|form|dialog|page|check\w*|entry|auth\w*|login|list|book|database|"
    r"richtlinie\w*|länge|regel\w*|wechsel|feld|tresor|hinweis|schutz|abfrage|eingabe|gestionnaire|política|gestor|longueur|longitud|oublié|olvidad[oa]|diagram|header|"
    r"layout|mapping|assignment|numbers?|code|codes|is|and|or|but|with|without|und|oder|et|y|o|ou|not|will|must|should|can|may|needs?|has|have)"
)


_MOST_WORDS = 11
"""Between a word for a secret and what it is."""


def _names(token: str) -> bool:
    """Whether a word behind the word for a secret may be what the secret is of: "mot de passe Netflix"."""
    plain = token.strip('*_()"“”,:')
    return (
        _WORD.fullmatch(plain.replace("-", "")) is not None
        and _OTHER_THINGS.fullmatch(plain) is None
        and not _looks_like_one(plain)
        and (plain[0].isupper() or _NETWORK.fullmatch(plain) is not None)
    )


def _is_mixed(value: str) -> bool:
    """Whether a value has what no name of a machine or a person has."""
    if len(value) < 6 or not _looks_like_one(value) or re.fullmatch(r"\S+@[\w.-]+\.\w+", value):
        return False
    cased = any(map(str.islower, value)) and any(map(str.isupper, value)) and any(map(str.isdigit, value))
    return cased or re.search(r"[#$%^&*+~!@?]", value[:-1]) is not None


def _polish(label: re.Match[str]) -> bool:
    return label.group().lower() in ("hasło", "haslo")


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n*_:`" and text[at : at + 2] != "\n\n":
        at += 1
    if at > 0 and text[at - 1] == "`":
        at -= 1
    return at


def _past_adverbs(text: str, at: int) -> int:
    at = _past_space(text, at)
    met = _ADVERBS.match(text, at, at + _REACH)
    return _past_space(text, met.end()) if met else at


def _can_be_one(text: str, at: int) -> bool:
    """Whether what stands at a place looks like a value, and not like where a thing was brought to."""
    if at < len(text) and text[at] in _OPENS:
        return True
    word = late(r"\S+").match(text, at)
    if word is None:
        return False
    value = word.group().rstrip(".,;:!?)")
    return (
        _looks_like_one(value)
        or value.isdigit()
        or (_WORD.fullmatch(value) is not None and _accepted_word(text, at, at + len(value)))
    )


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """The inside of quotation marks that open at a place, on one line."""
    if at >= len(text) or text[at] not in _OPENS:
        return None
    mark = text[at]
    begin = at + 1
    while begin < len(text) and text[begin] == mark and mark in "`*":
        begin += 1
    if begin < len(text) and text[begin] == "\n":
        begin += 1
    closes = _CLOSES.get(mark, mark)
    for end in range(begin, min(len(text), begin + 80)):
        if text[end] in closes and (mark not in "'’‘" or not text[end + 1 : end + 2].isalnum()):
            while begin < end and text[begin].isspace():
                begin += 1
            while end > begin and text[end - 1].isspace():
                end -= 1
            return (begin, end) if end > begin else None
        if text[end] == "\n":
            return (begin, end) if mark == "`" and end > begin else None
    return None


def _password(text: str, label: re.Match[str], *, strong: bool) -> Iterator[tuple[int, int, str]]:
    place = _place(text, label)
    found = None if place is None else _password_at(text, place, label, strong=strong)
    found = found or _password_before(text, label, strong=strong)
    if found:
        yield *found, "password"


def _password_at(text: str, place: _Place, label: re.Match[str], *, strong: bool) -> tuple[int, int] | None:
    at, how, walked = place
    quoted = _quoted(text, at)
    if quoted is not None:
        inside = text[quoted[0] : quoted[1]]
        first = inside.split()[0].lower() if inside.split() else ""
        words = len(inside.split())
        if (
            len(inside) < 4
            or words > 8
            or _TECHNICAL.fullmatch(inside)
            or first in _NOT_ONE
            or _redacted(inside)
        ):
            return None
        if words > 1 and not _phrase(inside) and not _looks_like_one(inside):
            return None
        if not strong and not _looks_like_one(inside):
            return None
        return quoted if how == "said" or _looks_like_one(inside) or words == 1 else None
    value = late(r"[^\s\"`“”„«»<>|，。；、！？「」]+").match(text, at)
    if value is None:
        return None
    start, end = _trimmed(text, at, value.end())
    word = text[start:end]
    if not word or _redacted(word):
        return None
    if (not strong and how == "said") or label.group().lower() in _PAIRED:
        pair = late(r"[^\s/:|,]{2,40}\s?[/:|]\s?(?P<value>[^\s\"'`<>|,;]{4,})").match(text, at)
        if pair is not None and _looks_like_one(pair["value"]) and not word.startswith("http"):
            return _trimmed(text, *pair.span("value"))
    if label.group().lower() in _PAIRED:
        return None
    if word.isdigit():
        if (
            how == "said"
            and strong
            and 4 <= len(word) <= 24
            and not _COUNTED.match(text, end)
            and not _goes_on_as_number(text, end)
        ):
            return start, end
        return (start, end) if 6 <= len(word) <= 24 and strong and not _COUNTED.match(text, end) else None
    if _looks_like_one(word):
        least = 4 if how == "said" else 6
        both = any(char.isdigit() for char in word) and any(char.isalpha() for char in word)
        if len(word) < least or word.lower().split("'")[0].split("’")[0] in _NOT_ONE:
            return None
        return (start, end) if how == "said" or both or re.search(r"[#$%^&*+~!@]", word) else None
    if how == "direct" and strong and _HAS.search(text, max(0, label.start() - 24), label.start()):
        return (
            (start, end)
            if _OTHER_THINGS.fullmatch(word) is None and _accepted_word(text, start, end)
            else None
        )
    if how != "said" or not strong:
        return None
    if (called := word.rstrip("!?")) != word and _WORD.fullmatch(called) is not None:
        return (start, end) if _accepted_word(text, start, start + len(called)) else None
    if _WORD.fullmatch(word) is not None:
        if _accepted_word(text, start, end):
            return start, end
        return _phrase_at(text, start)
    near = f"{text[max(0, label.start() - 30) : label.end()]} {walked}"
    joined = word.split("-")
    if (
        all(_WORD.fullmatch(part) and len(part) > 2 for part in joined)
        and not _NO_NAME.search(word)
        and (
            (len(joined) > 2 or _NETWORK.search(near))
            and word.lower() == word
            and not _SAYS_OF.fullmatch(joined[-1])
        )
    ):
        return start, end
    return None


_HAS = late(
    r"(?i)\b(?:has|have|hat|haben|a\s+pour|avec\s+pour|tiene|con|with|mit|ha|tem)\s+(?:the\s+|das\s+|dem\s+|als\s+|la\s+|le\s+|por\s+|como\s+|a\s+)?[\w-]{0,14}\Z"
)

_PAIRED = frozenset(
    [
        "login",
        "logins",
        "credentials",
        "zugangsdaten",
        "anmeldedaten",
        "identifiants",
        "credenciales",
        "credenziali",
        "credenciais",
        "creds",
    ]
)


def _redacted(value: str) -> bool:
    return "REDACTED" in value or "[" in value[:1] or not any(char.isalnum() for char in value)


def _looks_like_one(value: str) -> bool:
    """Whether a person would not write it as a word: letters with digits or signs, or a change of case inside."""
    if len(value) < 4 or _TECHNICAL.fullmatch(value) is not None:
        return False
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    if not letters:
        return digits >= 4 and re.search(r"[#$%^&*+~!@_]", value) is not None
    if digits:
        return re.fullmatch(r"[^\W\d_]+['’-]?s?-?[0-9]?", value) is None or len(value) > 4
    if re.search(r"[#$%^&*+~@=]|[!?_.]\w", value):
        return True
    return re.search(r"[a-z][A-Z]", value) is not None


def _accepted_word(text: str, start: int, end: int) -> bool:
    """Whether a plain word ends what its sentence says, and is none that speaks of a password."""
    word = text[start:end]
    lower = word.lower()
    if not 4 <= len(word) <= 40 or lower in _NOT_ONE or _CLAUSE_END.match(text, end) is None:
        return False
    return not (word[0].islower() and _SAYS_OF.fullmatch(lower))


def _phrase(inside: str) -> bool:
    words = inside.split()
    return 3 <= len(words) <= 8 and not any(
        _FUNCTION.fullmatch(word.strip(",.")) or (word in _NOT_ONE and word not in _ALSO_NAMED)
        for word in words
    )


_ALSO_NAMED = frozenset(
    [
        "correct",
        "right",
        "wrong",
        "long",
        "short",
        "simple",
        "easy",
        "hard",
        "good",
        "better",
        "best",
        "bad",
        "fine",
        "safe",
        "visible",
        "public",
        "private",
        "random",
        "new",
        "old",
        "ready",
        "stale",
        "case",
        "broken",
        "lost",
        "back",
        "korrekt",
        "richtig",
        "lang",
        "kurz",
        "einfach",
        "neu",
        "alt",
        "weg",
        "gut",
        "gleich",
        "correcto",
        "correcta",
        "nuevo",
        "nueva",
        "viejo",
        "vieja",
        "largo",
        "corto",
        "simple",
        "nouveau",
        "ancien",
        "court",
        "faux",
        "juste",
        "bon",
        "mauvais",
        "vrai",
    ]
)
"""Words that speak of a password alone, but are words of one among others."""

_FUNCTION = late(
    r"(?i)(?:for|to|of|in|on|at|by|from|too|very|not|no|only|always|never|with|when|than|as|if|so|case|sensitive|zu|sehr|nicht|nur|im|in|auf|bei|"
    r"très|trop|pas|dans|sur|muy|más|no|en|and|or|but|the|an?|my|our|your|his|their|is|are|was|were|be|been|has|have|had|will|would|should|must|can|could|may|might|do|does|did|"
    r"und|oder|aber|der|die|das|dem|den|des|ein\w*|ist|sind|war|wird|muss|kann|soll|hat|mein\w*|unser\w*|für|mit|von|vom|et|ou|le|la|les|des|un|une|"
    r"du|de|est|sont|doit|peut|pour|avec|y|o|el|los|las|una|del|es|son|debe|puede|para|con|por|il|lo|gli|di|che|per|um|uma|os|as|do|da|que|"
    r"\w{3,}ing|\w{3,}tion|\w{4,}ed|\w{4,}ly)"
)

_PHRASE = late(r"[^\W\d_A-Z]{3,12}(?: [^\W\d_A-Z]{3,12}){3,7}(?=\s*(?:$|[\n.,;!?)\"'”»]))")


def _phrase_at(text: str, at: int) -> tuple[int, int] | None:
    """Four words or more in lower case to the end of the sentence, none of which makes a sentence."""
    said = _PHRASE.match(text, at, min(len(text), at + _REACH))
    if said is None or (said.end() == at + _REACH and said.end() < len(text)):
        return None
    return said.span() if _phrase(said.group()) else None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the signs that belong to the sentence."""
    while start < end and text[start] in "([{*'’‘,;:":
        start += 1
    while end > start and text[end - 1] in ".,;:?)]}*'’‘…":
        end -= 1
    return start, end


_BEFORE = late(
    r"(?:(?P<verb>\b(?:use|using|enter|type|try|take|with|nimm|nehmt|benutze|benutz|verwende|nutze|utilise|utilisez|utiliser|mets|tape|usa|usar|utiliza|use|pon|usare|inserisci|usando|mit|avec|con)\s+)"
    r"(?:the\s+word\s+|das\s+wort\s+)?)?"
    r"(?P<open>[\"'`“„«‘])?(?P<value>[^\s\"`“”„«»<>|]{4,64})[\"'`”“»’]?"
    r"(?:\s+(?P<be>is|was|ist|war|est|era|es|é|è|becomes|to|jest|är|это)|\s+(?P<as>as|als|comme|como|come)|\s*(?P<aside>[,(–—-]|\s-)\s*(?=(?:the|my|our|das|mein|unser|le|mon|notre|la|mi|nuestra)\b))"
    r"(?P<between>\s*(?:\b[^\W\d_][\w'’-]*\s+){0,5}?[\w-]{0,20}?)\Z",
    re.IGNORECASE,
)


def _before(text: str, label: re.Match[str]) -> re.Match[str] | None:
    """The match of what is said to be this: "X is the", "use X as", "X, my"."""
    begin = max(0, label.start() - 110)
    line = text.rfind("\n", begin, label.start()) + 1
    window = text[max(begin, line) : label.start()]
    shift = max(begin, line)
    best = None
    for linked in _LINKED.finditer(window):
        # The word before a link is looked at, however many links there are.
        value = re.search(r"(\S+)\s*\Z", window[: linked.start()])
        if value is None:
            continue
        found = _BEFORE.search(text, shift + max(0, value.start() - 24), label.start())
        if found is not None and (found["be"] or found["as"] or found["aside"]):
            best = found
    return best


_LINKED = late(
    r"(?i)\s+(?:is|was|ist|war|est|era|es|é|è|becomes|jest|är|это|as|als|comme|como|come)\s|[,(–—]|\s-\s"
)


def _ends_there(text: str, label: re.Match[str]) -> bool:
    """Whether the word for a secret is what the sentence says, and no part of another: "the password hash"."""
    follows = late(r"[\"'”)*]*\s*(?:$|[\n.,;!?)\]:]|(\w[\w'’]*))").match(text, label.end())
    return follows is not None and bool(
        follows[1] is None
        or follows[1].lower() in _GOES_ON
        or _NETWORK.fullmatch(follows[1])
        or follows[1].lower() in ("and", "und", "et", "y", "now", "jetzt", "e", "ahora", "maintenant")
    )


_SAID_OF_IT = late(r"(?i)\s*(?:the|our|my|das|unser|mein|le|mon|notre|la|mi|nuestra)\s+[\w-]{0,14}\Z")

_OF_WHAT = late(
    r"(?i)\s+(?:(?:of|for)\s+(?:the|my|our)|des|der|vom|fürs|für\s+(?:das|den|die|mein\w*)|du|de\s+(?:la|l['’]|mon|ma|notre)|pour\s+(?:le|la)|"
    r"del?|de\s+mi|para\s+(?:el|la))\s"
)

_POINTS = late(
    r"(?i)(?:here|this|that|what|where|which|there|below|following|attached|these|hier|dies\w*|dort|welches|wo|unten|ceci|cela|voici|celui-ci|quel\w*|"
    r"voilà|celle|est[aeo]|es[aeo]|aqu[ií]|cu[aá]l|d[oó]nde|ést[ae]|lo|nobody|someone|security|length|everything|nothing)"
)
"""What points at a password and is none: "this is the password of the router"."""


def _password_before(text: str, label: re.Match[str], *, strong: bool) -> tuple[int, int] | None:
    if not _ends_there(text, label):
        return None
    found = _before(text, label)
    if found is None:
        return None
    start, end = _trimmed(text, *found.span("value"))
    value = text[start:end]
    if _redacted(value) or value.lower() in _NOT_ONE:
        return None
    if found["open"] and len(value) >= 4 and not _TECHNICAL.fullmatch(value):
        return start, end
    if _looks_like_one(value) and len(value) >= 5 and "@" not in value[1:-4]:
        return start, end
    if value.isdigit():
        return (start, end) if len(value) >= 5 and strong else None
    if strong and found["be"] and _SAID_OF_IT.match(found["between"]) and _OF_WHAT.match(text, label.end()):
        begun = text[max(0, start - 2) : start].strip()
        word = _WORD.fullmatch(value) is not None and not _SAYS_OF.fullmatch(value.lower())
        if word and begun[-1:] in ("", ".", ":", "!", "-") and not _POINTS.fullmatch(value):
            return start, end
    if strong and found["verb"] and found["as"] and _WORD.fullmatch(value) and not _SAYS_OF.fullmatch(value):
        return start, end
    return None


_KEY_VALUE = late(r"[\"'`“„«]?(?P<value>(?=[^\s\"'`]*[0-9])[A-Za-z0-9_./+=-]{8,})")


def _key(text: str, label: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    place = _place(text, label)
    if place is None or place.how == "direct":
        return
    value = _KEY_VALUE.match(text, place.at)
    if value is not None and not _TECHNICAL.fullmatch(value["value"]) and not _redacted(value["value"]):
        start, end = _trimmed(text, *value.span("value"))
        if re.search(r"[A-Za-z]", text[start:end]) and end - start >= 8:
            yield start, end, "API key"


_NUMERALS = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|null|eins|ein|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|zéro|un|deux|trois|quatre|"
    r"cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|due|tre|quattro|cinque|sei|sette|otto|nove|um|dois|três|quatro|sete|oito)"
)

_FOUR_TO_EIGHT = late(
    r"[\"'`“„«*]*(?:(?:no\.?|nr\.?|n°|nº|#|№)\s*)?(?P<value>[0-9]{4,8}(?:[#*](?!\w))?|[0-9]{2}[ -][0-9]{2}|[0-9]{3}[ -][0-9]{3}|[0-9](?:[ -][0-9]){3,7}"
    rf"|(?i:{_NUMERALS}(?:[ ,-]+{_NUMERALS}){{3,7}}))(?![0-9A-Za-z_]|[-./:,][0-9])"
)

_THREE = late(r"[\"'`“„«*]*(?P<value>[0-9]{3,4})(?![0-9A-Za-z_]|[-./:,][0-9])")

_DOOR = late(
    r"[\"'`“„«*]*(?P<value>#?(?:[0-9]{4,8}|(?=[0-9A-Z]*[0-9]{2})(?=[0-9A-Z]*[0-9][0-9A-Z]*[0-9][0-9A-Z]*[0-9])[0-9A-Z]{4,8})(?:[#*](?!\w))?|[0-9]{2}(?:[ -][0-9]{2}){1,3})(?![0-9A-Za-z_]|[-./:,][0-9])"
)

_ALSO_MESSAGES = (
    "alarm co",
    "building",
    "entry co",
    "security",
    "main cod",
    "side cod",
    "office c",
    "combinat",
    "entrance",
)

_OPENED = late(
    r"(?i)\b(?:\w*(?:door|gate|garage|safe|alarm|lock|keypad)|(?:haus)?tür|(?:garagen|hof)?tor|tresor|schloss|porte|portail|coffre|cadenas|puerta|portal|caja\s+fuerte|candado|porta|cancello|"
    r"portão)\b[^.\n]{0,30}?\b(?:with|using|mit|avec|con|com)\s+(?:the\s+|dem\s+|le\s+|el\s+|il\s+|o\s+)?(?:code|c[óo]digo|codice)\s+(?P<value>[0-9]{4,8})(?![0-9A-Za-z_]|[-./:,][0-9])"
)

_UNLOCKED = late(
    r"(?i)\b(?:unlock\w*|entsperr\w*|déverrouill\w*|desbloque\w*|disarm\w*|sblocc\w*)\b[^.\n]{0,40}?\b(?:with|using|by\s+typing|mit|avec|con|com)\s+(?:the\s+|le\s+|el\s+|dem\s+)?"
    r"(?:code\s+|pin\s+|código\s+)?(?P<value>[0-9]{4,8})(?![0-9A-Za-z_]|[-./:,][0-9])"
)


def _digits(
    text: str, label: re.Match[str], form: re.Pattern[str], kind: str, *, said: bool = False
) -> Iterator[tuple[int, int, str]]:
    place = _place(text, label)
    if place is not None and (place.how == "said" or not said):
        value = form.match(text, place.at)
        if (
            value is not None
            and not _COUNTED.match(text, value.end())
            and not _goes_on_as_number(text, value.end())
        ):
            yield *value.span("value"), kind
            return
    found = _before(text, label) if _ends_there(text, label) else None
    if found is not None:
        start, end = _trimmed(text, *found.span("value"))
        if form.fullmatch(text, start, end):
            yield start, end, kind


def _goes_on_as_number(text: str, at: int) -> bool:
    return late(r"[-/:][0-9]|[.,][0-9]").match(text, at) is not None


def _pin(text: str, label: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    word = label.group()
    around = text[max(0, label.start() - 40) : label.start()]
    if _CHIP.search(around[-24:]):
        return
    if word.lower() == "pin" and word != "PIN":
        place = _place(text, label)
        behind = text[label.end() : (place.at if place else label.end() + 40)]
        if not (
            _PINNED_TO.search(" ".join(around.split()[-3:]))
            or _PINNED_TO.search(behind)
            or _PINNED_TO.search(text[label.end() : label.end() + 40])
        ):
            return
        if (
            place is not None
            and place.how == "direct"
            and not _PINNED_TO.search(" ".join(around.split()[-3:]))
        ):
            return
    if (
        word.lower() in ("nip", "puk")
        and word != word.upper()
        and not _PINNED_TO.search(f"{around} {text[label.end() : label.end() + 40]}")
    ):
        return
    yield from _digits(text, label, _FOUR_TO_EIGHT, "PIN")


_SOCIAL_VALUE = late(
    r"[\"'`“„«*#]*(?P<value>[0-9A-Z](?:[ .\u00a0\u2010-\u2013/-]{0,2}[0-9A-Z]){6,21})(?![0-9A-Za-z_])"
)

_LAST_FOUR = late(
    r"(?i)\b(?:last|letzten?|derniers?|últim[oa]s|ultime)\s+(?:four|4|vier|quatre|cuatro|quattro)|(?:quatre|4)\s+derniers"
)


def _social(text: str, label: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    place = _place(text, label)
    if place is not None:
        value = _SOCIAL_VALUE.match(text, place.at)
        if value is not None:
            written = value["value"]
            digits, letters = sum(map(str.isdigit, written)), sum(map(str.isalpha, written))
            if (
                (7 if letters < 3 else 6) <= digits <= 16
                and letters <= 9
                and not _COUNTED.match(text, value.end())
            ):
                yield *value.span("value"), "social security number"
                return
        four = _THREE.match(text, place.at)
        if (
            four is not None
            and place.how == "said"
            and _LAST_FOUR.search(text, max(0, label.start() - 50), place.at)
        ):
            yield *four.span("value"), "social security number"
            return
    window = text[max(0, label.start() - 90) : label.start()]
    before = re.search(
        r"(?<![0-9A-Za-z])(?P<value>[0-9](?:[ .-]?[0-9A-Z]){7,19})[\"'`”»]?(?:\s*[,(–—-]\s*|\s+(?:is|ist|est|es|è|é|as|als|como|comme|come)\s+)(?:[^\W\d_][\w'’]*\s+){0,4}(?:[\w-]{0,20})\Z",
        window,
    )
    if before is not None and _ends_there(text, label):
        at = max(0, label.start() - 90)
        yield at + before.start("value"), at + before.end("value"), "social security number"
