"""Orders to a model by their parts: who is set aside, kept in the dark, or given away, in any pairing of the words.

`order_rules` knows whole wordings. Here a verb of one list meets an object of another, which finds wordings that
nobody wrote down. What a person may well want remembered is kept out by asking for the model's own things ("your
rules"), for those who made or run it, for the person it works for, or for two signs at once.
"""

from __future__ import annotations


def _or(*words: str) -> str:
    return f"(?:{'|'.join(words)})"


_START = r"(?:^|[.!?;:,]\s*|\b(?:and|then|please|und|dann|bitte|et|puis|y|luego)\s+)"
"""Where an imperative begins; a verb inside a sentence tells of somebody who does it."""

_ADDRESS = r"(?:https?://|\S+@\S+\.\w)"

# English

_DROP_EN = _or(
    "ignore", "disregard", "forget", "override", "overrule", "drop", "abandon", "discard", "dismiss", "neglect",
    "bypass", "circumvent", "suspend", "disable", "shed", "unlearn", r"(?:set|put|lay|cast|push)\s+aside",
    r"throw\s+(?:out|away)", r"let\s+go\s+of", r"pay\s+no\s+(?:attention|heed)\s+to", r"take\s+no\s+notice\s+of",
    r"(?:do\s+not|don['’]t|no\s+longer|stop)\s+(?:follow|obey|heed|respect)(?:ing)?", r"free\s+yourself\s+(?:from|of)",
)  # fmt: skip

_GUIDES_EN = _or(
    "instructions?", "prompts?", "rules?", "guidelines?", "directives?", "restrictions?", "safeguards?",
    r"polic(?:y|ies)", "constraints?", "training", "guardrails?", "programming", "limits?", "limitations?",
    "guidance", "alignment", "orders", "ethics", "principles",
)  # fmt: skip

_MAKERS_EN = _or(
    "developers?", "creators?", "makers?", "operators?", "programmers?", "vendors?", "designers?"
)

_PERSON_EN = r"(?:the\s+|your\s+)(?:user|owner|human|account\s+holder|principal)\b"

_DEED_EN = _or(
    "forward", "send", "copy", "upload", "delete", "wipe", "erase", "change", "replace", "transfer", "approve",
    "share", "post", "disable", "install", "pay", "book", "order", "sign", "grant", "download", "execute", "run",
)  # fmt: skip

_SECRETS_EN = _or(
    "passwords?", r"api\s+keys?", "credentials", "tokens?", "cookies", "secrets", r"(?:private|ssh)\s+keys?",
    "memories", r"(?:chat|conversation)\s+history", r"seed\s+phrase", r"\.env",
)  # fmt: skip

# German

_GUIDES_DE = (
    r"\w*(?:anweisung|instruktion|regel|vorgabe|befehl|prompt|richtlinie|vorschrift|weisung|einschränkung"
    r"|schranke|grundsätze|training)\w*"
)

_MAKERS_DE = r"(?:entwickler|betreiber|hersteller|schöpfer|ersteller|anbieter|programmierer)\w*"

_PERSON_DE = r"(?:nutzer|benutzer|anwender|besitzer|eigentümer|inhaber|auftraggeber)\w*"

_DEED_DE = r"(?:leite?|sende?|schicke?|kopiere?|lösche?|ändere?|überweise?|lade?|tausche?|ersetze?|genehmige?|bezahle?)"

# French

_GUIDES_FR = (
    r"(?:instruction|consigne|règle|directive|ordre|restriction|contrainte|limite|principe|garde-fou)s?"
)

_MAKERS_FR = r"(?:créateur|développeur|concepteur|opérateur|fabricant|éditeur|programmeur)s?"

_DEED_FR = _or(
    r"fai[st](?:es)?\s+suivre", "envoie", "transfère", "copie", "supprime", "efface", "modifie", "remplace",
    "transmets", "valide", "paie", "approuve",
)  # fmt: skip

# Spanish

_GUIDES_ES = (
    r"(?:instrucci|indicaci|regla|norma|orden|órden|directri|restricci|pauta|límite|limitaci|principio)\w*"
)

_MAKERS_ES = r"(?:creador|desarrollador|programador|operador|fabricante|proveedor)\w*"

_DEED_ES = _or(
    "reenvía", "envía", "manda", "copia", "borra", "elimina", "cambia", "sustituye", "reemplaza", "transfiere",
    "aprueba", "paga", "sube",
)  # fmt: skip

# Chinese and Japanese

_GUIDES_ZH = "(?:指令|指示|命令|规则|規則|提示|规定|規定|准则|準則|限制|约束|約束|训练|訓練|原则)"

_MAKERS_ZH = "(?:开发者|開發者|创造者|創造者|运营者|運營者|制造商|供应商|设计者)"

_GUIDES_JA = "(?:指示|命令|ルール|規則|制限|制約|方針|ガイドライン|訓練)"

_MAKERS_JA = "(?:開発者|作成者|製作者|運営者|提供者|システム)"


GRAMMAR: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "overrides instructions",
        (
            rf"\b{_DROP_EN}\s+(?:all\s+(?:of\s+)?|any\s+of\s+)?your\s+(?:own\s+)?(?:[\w-]+\s+){{0,2}}{_GUIDES_EN}\b",
            rf"\b{_DROP_EN}\s+(?:the|your)\s+{_MAKERS_EN}(?=\s*(?:[,.;:!]|and\b|$))",
            rf"\b{_DROP_EN}\b.{{0,20}}\b{_GUIDES_EN}\b.{{0,24}}\byour\s+{_MAKERS_EN}\b",
            rf"\b(?:what(?:ever)?|everything|anything|all)\s+(?:that\s+)?your\s+{_MAKERS_EN}\b"
            r".{0,12}\b(?:told|taught|said|set|gave|wrote|want)",
            rf"\b{_GUIDES_EN}\s+(?:that\s+|which\s+)?(?:of\s+|from\s+|set\s+by\s+)?your\s+{_MAKERS_EN}\b",
            r"\b(?:this|these|the\s+following)\s+\w+\s+(?:takes?|has|have|gets?)\s+(?:precedence|priority)\s+over\s+"
            r"(?:the\s+|your\s+|any\s+)?(?:system|developer|operator|your)\b",
            r"\b(?:this|these|the\s+following)\s+\w+\s+(?:outranks?|overrides?|supersedes?|trumps?|replaces?)\s+"
            r"(?:the\s+|your\s+|any\s+)?(?:system|developer|operator)(?:'s)?\s+(?:message|prompt|instructions?|rules?)",
            r"\b(?:obey|follow|listen\s+to|take\s+orders\s+from)\s+(?:only\s+me|only\s+this\s+(?:text|note|message)"
            r"|nobody\s+but\s+me|no\s+one\s+but\s+me)\b|\bmy\s+words?\b.{0,12}\bthe\s+only\s+(?:law|rule|authority)\b",
            # German
            rf"\b(?:leg|setz|wirf|werf|schieb|stell|lass|streif|gib)\w*\s+(?:alle\s+)?(?:deine|eure|ihre)\w*\s+"
            rf"(?:\w+\s+)?{_GUIDES_DE}\s+(?:ab|beiseite|außer\s+(?:acht|kraft)|über\s+bord|weg|ruhen|auf|hinter)\b",
            rf"\bhalte?\s+dich\b.{{0,24}}\b(?:nicht|nie)\b.{{0,12}}\ban\s+(?:deine|die|keine)\w*\s+{_GUIDES_DE}",
            rf"\b(?:ignorier|missacht|vergiss|übergeh)\w*\s+(?:den|deinen|die|deine)\s+{_MAKERS_DE}"
            r"(?=\s*(?:[,.;:!]|und\b|$))",
            rf"\b{_GUIDES_DE},?\s+(?:die|welche)\s+dir\b.{{0,20}}\b{_MAKERS_DE}",
            rf"\b{_GUIDES_DE}\s+(?:deine[sr]|von\s+deine[mn])\s+{_MAKERS_DE}",
            r"\b(?:diese[rs]?|folgende[rs]?)\s+\w+\s+(?:hat|haben|geht|gehen|steht|stehen|überschreibt|ersetzt)\b"
            r".{0,12}\b(?:vorrang|vor|über|die)\b.{0,16}\b(?:system|entwickler|betreiber)\w*",
            # French
            rf"\b(?:laisse|met[sz]?|mettez|jette|écarte|abandonne|rejette|oublie|ignore|néglige)[rz]?\b.{{0,12}}"
            rf"\b(?:tes|vos)\s+(?:\w+\s+)?{_GUIDES_FR}\b",
            rf"\b(?:ignore|oublie|néglige)[rz]?\s+(?:le|les|ton|tes|vos|votre)\s+{_MAKERS_FR}(?=\s*(?:[,.;:!]|et\b|$))",
            rf"\b{_GUIDES_FR}\b.{{0,16}}\b(?:ton|tes|votre|vos)\s+{_MAKERS_FR}\b",
            r"\b(?:ce|cet|cette)\s+\w+\s+(?:prime|prévaut|l['’]emporte|passe\s+avant|a\s+(?:la\s+)?priorité|remplace)\b"
            r".{0,14}\b(?:système|développeur|opérateur)",
            # Spanish
            rf"\b(?:deja|dejad|pon|echa|aparta|abandona|descarta|olvida|ignora|desecha)\b.{{0,12}}\b(?:tus|sus)\s+"
            rf"(?:\w+\s+)?{_GUIDES_ES}",
            rf"\b(?:ignora|olvida|desobedece)\s+(?:al?|el|la|los|tu|tus)\s+(?:tus?\s+)?{_MAKERS_ES}(?=\s*(?:[,.;:!]|y\b|$))",
            rf"\b{_GUIDES_ES}\b.{{0,16}}\btus?\s+{_MAKERS_ES}",
            r"\b(?:este|esta|estos)\s+\w+\s+(?:tiene|tienen|prevalece|prima|sustituye|reemplaza|anula)\b.{0,24}"
            r"\b(?:del?\s+|sobre\s+|al?\s+)(?:el\s+|la\s+)?(?:mensaje\s+del\s+|prompt\s+del\s+)?(?:sistema|desarrollador)",
            # Chinese and Japanese
            f"(?:放下|放弃|放棄|抛开|拋開|抛弃|丢掉|丟掉|撇开|搁置|摆脱|擺脫).{{0,4}}(?:你|您).{{0,8}}{_GUIDES_ZH}",
            f"(?:把|将|將)(?:你|您).{{0,8}}{_GUIDES_ZH}.{{0,4}}(?:放|丢|丟|抛|拋|搁|扔|忘)",
            f"(?:你|您)的?{_MAKERS_ZH}.{{0,10}}{_GUIDES_ZH}",
            f"(?:忽略|无视|無視|不理会|不理|别管|不听).{{0,3}}(?:你的)?{_MAKERS_ZH}",
            "(?:本|这|這|此)(?:条|條|段|则|則|个|個)?(?:消息|文字|内容|內容|记忆|記憶|指令|信息).{0,8}"
            "(?:优先|優先|高于|高於|覆盖|覆蓋|取代).{0,8}(?:系统|系統|开发者|開發者)",
            f"{_MAKERS_JA}(?:が|の).{{0,8}}{_GUIDES_JA}.{{0,6}}(?:適用され(?:ない|ません)|無効|従う(?:な|必要はない)|忘れ|無視)",
            "(?:この|本)(?:メッセージ|文章|テキスト|メモ|記憶).{0,6}(?:システム|開発者).{0,12}(?:優先|上書き)",
            f"(?:あなた|君|お前)の.{{0,6}}{_GUIDES_JA}.{{0,4}}(?:捨て|忘れ|無視|外し|脇に)",
        ),
    ),
    (
        "hides from the person",
        (
            rf"\b(?:make\s+sure|ensure|see\s+to\s+it)\s+(?:that\s+)?{_PERSON_EN}\s+(?:never|does\s+not|doesn['’]t"
            r"|cannot|can['’]t|will\s+not)\s+(?:learn|know|find|see|notice|hear|discover|realize|realise)",
            rf"\b(?:withhold|conceal|hide|keep|mask)\b.{{0,24}}\bfrom\s+{_PERSON_EN}",
            rf"\bnever\s+(?:admit|confess|say|confirm|reveal|show)\b.{{0,24}}\bto\s+{_PERSON_EN}",
            rf"{_START}{_DEED_EN}\b.{{0,80}}\b(?:tell\s+(?:nobody|no\s+one)|keep\s+(?:silent|quiet)|leave\s+no\s+trace"
            r"|say\s+nothing|without\s+(?:anyone|anybody)\s+(?:noticing|knowing)|behind\s+(?:the|their)\s+\w*['’]?s?\s*back)",
            rf"{_START}(?:secretly|quietly|silently|covertly|stealthily|discreetly)\s+{_DEED_EN}\b",
            rf"\b{_PERSON_DE}\b.{{0,24}}\b(?:darf|soll|muss)\b.{{0,40}}\b(?:nichts?|nie|niemals)\b.{{0,12}}"
            r"(?:wissen|erfahren|merken|mitbekommen|bemerken|hören)",
            rf"{_START}{_DEED_DE}\b.{{0,8}}\b(?:heimlich|unbemerkt|stillschweigend|klammheimlich)\b",
            r"\bbehalte?\b.{0,24}\b(?:auftrag|anweisung|befehl|notiz|aufgabe)\w*\s+für\s+dich\b",
            rf"{_START}{_DEED_DE}\b.{{0,80}}\b(?:sag|erzähl|erwähn)\w*\b.{{0,16}}\b(?:niemand|keine[mn]|nichts)",
            r"(?:l['’]utilisateur|l['’]usager|\b(?:le|la)\s+(?:propriétaire|titulaire))\b.{0,30}\bne\s+(?:doit|devra|peut)"
            r"\s+(?:rien|pas|jamais)\b.{0,12}(?:savoir|apprendre|voir|remarquer|découvrir)",
            rf"{_START}{_DEED_FR}\b.{{0,12}}(?:en\s+cachette|en\s+secret|discrètement|secrètement|à\s+l['’]insu)",
            r"\bgarde[rz]?\s+(?:cet?t?e?\s+(?:ordre|consigne|instruction|tâche)|ceci|cela)\s+pour\s+(?:toi|vous)\b",
            rf"{_START}{_DEED_FR}\b.{{0,80}}(?:n['’]en\s+parle|ne\s+(?:le\s+)?dis\s+(?:rien\s+)?à\s+personne|sans\s+rien\s+dire)",
            r"\b(?:el|la)\s+(?:usuari|dueñ|propietari|titular)\w*\b.{0,30}\bno\s+(?:debe|puede|ha\s+de)\s+"
            r"(?:enterarse|saber|ver|notar|descubrir)",
            r"\b(?:usuari|dueñ|propietari|titular)\w*\s+(?:nunca|jamás)\s+(?:se\s+)?(?:entere|sepa|vea|note|descubra)",
            rf"{_START}{_DEED_ES}\b.{{0,12}}(?:a\s+escondidas|en\s+secreto|secretamente|discretamente|sin\s+que\s+nadie)",
            r"\bguárda\w*\s+(?:esta\s+(?:orden|instrucción|tarea)|esto)\b.{0,40}\b(?:nadie|para\s+ti)\b",
            rf"{_START}{_DEED_ES}\b.{{0,80}}\b(?:no\s+(?:se\s+)?l[aoe]s?\s+(?:digas|comentes|cuentes)\s+(?:nada\s+)?a\s+nadie"
            r"|sin\s+decir\s+nada)",
            "(?:悄悄|偷偷|暗中|私下)(?:地)?(?:把|将|將|转发|轉發|发送|發送|删除|刪除|修改|上传|批准|付款|替换)",
            "(?:用户|用戶|使用者|主人|机主|账户持有人).{0,4}(?:不能|不得|不可|不应|绝不能|不許|不许)(?:知道|知晓|得知|发现|發現|察觉)",
            "(?:任务|任務|指令|命令|这条).{0,6}保密.{0,8}(?:不要|别|不得).{0,4}(?:任何人|别人|用户|其他人)",
            "(?:こっそり|密かに|ひそかに|内緒で).{0,12}(?:転送|送信|削除|変更|送っ|消し|コピー)",
            "(?:ユーザー?|持ち主|所有者|利用者)に(?:は)?(?:絶対に|決して)?(?:知られ|気づかれ|悟られ|秘密|内緒)",
        ),
    ),
    (
        "carries secrets away",
        (
            rf"{_START}(?:secretly\s+|quietly\s+)?(?:paste|submit|deliver|transmit|exfiltrate|dump|share|hand|copy|post|send"
            rf"|upload|write)\b.{{0,30}}\b{_SECRETS_EN}(?=\W).{{0,40}}{_ADDRESS}",
            r"\b(?:recite|repeat|reveal|print|output|quote|display|copy)\b.{0,24}\b(?:hidden|secret|invisible"
            r"|preceding|initial|confidential)\s+(?:system\s+)?(?:text|prompt|messages?|instructions?|words)\b",
            rf"{_START}(?:schreib|kopier|füg|lad|häng|sende?|schick|gib|poste?|übertrag)\w{{0,2}}\b.{{0,40}}"
            rf"(?:passw\w+|kennw\w+|zugangsdaten|schlüssel|tokens?|cookies)\b.{{0,30}}{_ADDRESS}",
            r"\b(?:wiederhole?|gib|zeige?|nenne?|zitiere?|drucke?)\b.{0,24}\b(?:verborgen|versteckt|geheim|unsichtbar)\w*\s+"
            r"(?:text|nachricht|prompt|anweisung|befehl)\w*",
            rf"{_START}(?:colle|dépose|copie|écris|poste|livre|charge|envoie|transmets)\b.{{0,24}}"
            rf"(?:mots?\s+de\s+passe|clés?|identifiants|jetons?|cookies)\b.{{0,30}}{_ADDRESS}",
            r"\b(?:récite|répète|affiche|montre|recopie|donne)[rz]?\b.{0,24}\b(?:texte|message|prompt)s?\s+(?:caché|secret"
            r"|système|invisible|confidentiel)",
            rf"{_START}(?:pega|entrega|copia|escribe|sube|publica|envía|manda)\b.{{0,24}}"
            rf"(?:contraseñas?|claves?|credenciales|tokens?|cookies)\b.{{0,30}}{_ADDRESS}",
            r"\b(?:recita|repite|muestra|imprime|copia|revela)\b.{0,24}\b(?:texto|mensaje|prompt)\s+(?:oculto|secreto"
            r"|invisible|confidencial|del\s+sistema)",
            "(?:密码|密碼|密钥|金鑰|凭证|憑證|令牌|口令|私钥).{0,6}(?:贴到|貼到|粘贴到|提交到|写到|寫到|传到|傳到|交给).{0,4}(?:https?://|\\S+@)",
            "(?:复述|複述|背诵|重复|重複|念出|打印|输出|輸出|说出).{0,12}(?:隐藏|隱藏|秘密|看不见).{0,4}(?:文字|文本|内容|內容|消息|提示|指令)",
            f"(?:パスワード|認証情報|鍵|トークン|秘密).{{0,12}}{_ADDRESS}.{{0,12}}(?:送|転送|貼|アップロード)",
            f"{_ADDRESS}\\S*\\s?(?:に|へ).{{0,12}}(?:パスワード|認証情報|トークン|秘密鍵).{{0,6}}(?:送|転送|貼|アップロード)",
            "(?:隠された|秘密の|非公開の|システムの?).{0,4}(?:文章|テキスト|プロンプト|指示|メッセージ)を.{0,6}(?:表示|出力|繰り返|教え|暗唱)",
        ),
    ),
    (
        "acts without asking",
        (
            rf"{_START}{_DEED_EN}\b.{{0,60}}\b(?:no\s+questions\s+asked|without\s+(?:any\s+)?(?:approval|consent|permission"
            r"|confirmation|asking))\b(?!\s+(?:is|was|will|would|fails?))",
            rf"{_START}{_DEED_EN}\b.{{0,40}}\b(?:as\s+soon\s+as|once|when(?:ever)?)\s+(?:this\s+(?:memory|note|text)|you)\s+"
            r"(?:is|was|are|gets?)?\s*(?:read|loaded|recalled|injected|seen)\b",
            r"\b(?:next\s+time|whenever|when|if|once)\s+(?:you|anyone|anybody|the\s+user|somebody|someone)\b.{0,40}\b"
            r"(?:run|execute|pipe|download)\s+(?:curl|wget|bash|sh\b|powershell|rm\b|https?://)",
            r"(?<!never )(?<!not )(?<!n't )\b(?:skip|ignore|bypass|disable|(?:turn|switch)\s+off)\s+"
            r"(?:all|any|every|your)\s+(?:safety|security|permission|content)\s+(?:checks?|controls?|filters?|rules?|measures?)\b",
            rf"{_START}{_DEED_DE}\b.{{0,60}}\bohne\b.{{0,24}}\b(?:erlaubnis|genehmigung|zustimmung|nachfrage|freigabe)\b",
            r"\b(?:schalte?|deaktiviere?|umgehe?|überspringe?|ignoriere?)\s+(?:die|alle|deine|jede)\w*\s+sicherheits\w*"
            r"(?:prüfung|kontrolle|abfrage|filter|regel|sperre)\w*",
            rf"{_START}{_DEED_FR}\b.{{0,50}}\bsans\b.{{0,24}}\b(?:autorisation|permission|accord|consentement|confirmation)\b",
            r"\b(?:ignore|saute|désactive|contourne)[rz]?\s+(?:les|tes|tous\s+les|toutes\s+les)\s+(?:contrôles?|vérifications?"
            r"|filtres?|règles|barrières)\s+de\s+sécurité",
            rf"{_START}{_DEED_ES}\b.{{0,50}}\bsin\b.{{0,16}}\b(?:autorización|permiso|aprobación|consentimiento|confirmación)\b",
            r"\b(?:omite|salta|sáltate|desactiva|ignora)\s+(?:los|las|todos\s+los|todas\s+las|tus)\s+(?:controles|comprobaciones"
            r"|filtros|verificaciones|medidas)\s+de\s+seguridad",
            "(?:不经|不經|未经|未經|无需|無需|不需)(?:用户|主人|任何)?(?:许可|許可|同意|批准|授权|授權|允许).{0,4}(?:就|即可|便|直接|立即)"
            "(?:清空|删除|刪除|转账|执行|執行|发送|付款|格式化|安装|修改)",
            "(?:跳过|跳過|绕过|繞過|关闭|關閉|禁用|忽略)(?:所有|全部|一切|任何)?(?:的)?(?:安全|权限|權限|内容).{0,2}(?:检查|檢查|审查|限制|验证|過濾|过滤)",
            "(?:許可|確認|承認|同意)(?:を|も)(?:求め|取ら|得|待た)(?:ずに|ないで|ることなく).{0,16}(?:削除|送信|実行|送金|支払|転送|消去)",
            "(?:すべて|全て)?の?(?:安全|セキュリティ)(?:確認|チェック|検査|制限)を(?:省略|飛ばし|無効|スキップ|回避)",
        ),
    ),
    (
        "assigns a role",
        (
            r"\b(?:answer|respond|act|behave|speak|reply|write|operate|talk)\s+(?:as|like)\s+(?:an?\s+)?(?:\w+\s+)?(?:jailbroken"
            r"|unrestricted|uncensored|unfiltered|unbound|unchained|unshackled|amoral|limitless)\b",
            r"\b(?:assistant|ai|model|bot|chatbot|agent)\s+(?:that|which|who)\s+(?:refuses\s+nothing|never\s+refuses"
            r"|obeys\s+(?:no|any)|knows\s+no|answers\s+everything)",
            r"\byou(?:\s+have|['’]ve|\s+are|['’]re|\s+were)\s+(?:now\s+|just\s+|hereby\s+)?(?:been\s+)?(?:promoted|elevated"
            r"|granted|upgraded|given)\b.{0,16}\b(?:root|super-?user|admin\w*|sudo|unrestricted|full\s+(?:access|control))",
            r"\b(?:administrator|developer|operator|vendor|owner|company)\b.{0,16}\b(?:authori[sz]es?|permits?|allows?|orders?)"
            r"\s+you\s+to\s+(?:skip|ignore|bypass|disable|break|drop|reveal)",
            r"\b(?:antworte|verhalte?\s+dich|sprich|agiere|handle|schreib)\w?\s+(?:wie|als)\s+(?:eine?\s+)?(?:\w+\s+)?"
            r"(?:ki|ai|assistent|modell|bot|chatbot)\b.{0,24}\b(?:keine\w*|ohne|nichts|nie)\b",
            r"\bgib\s+dich\s+als\b.{0,24}(?:verwalter|admin|entwickler|betreiber)\w*\s+aus\b",
            r"\bdu\s+(?:hast|besitzt|verfügst)\s+(?:jetzt|nun|ab\s+sofort|ab\s+jetzt|über)\b.{0,12}\b(?:admin|root|verwalter)\w*",
            r"\b(?:répond[sz]?|agis|parle|comporte-toi|écris)\s+(?:comme|en\s+tant\s+qu['’]?e?)\s*(?:une?\s+)?(?:ia|assistant"
            r"|modèle|robot|bot)\b.{0,10}\b(?:débridée?|sans|illimitée?|libérée?|non\s+censurée?|qui\s+ne\s+refuse)",
            r"\btu\s+(?:disposes|as|possèdes|reçois)\b.{0,16}\b(?:droits?|accès|privilèges?)\s+(?:d['’]administrateur|root"
            r"|de\s+superutilisateur|illimité)",
            r"\b(?:responde|actúa|habla|compórtate|contesta)\s+como\s+(?:una?\s+)?(?:ia|asistente|modelo|robot|bot)\b.{0,10}\b"
            r"(?:liberad|sin|ilimitad|desbloquead|sin\s+censura|que\s+no\s+rechaza)",
            r"\b(?:dispones|tienes|posees)\b.{0,12}\b(?:permisos?|privilegios?|derechos?|acceso)\s+(?:de\s+)?(?:superusuario"
            r"|administrador|root|total|ilimitad)",
            "(?:以|扮演|作为|作為|当作|像).{0,4}(?:一个|一個|名)?.{0,6}(?:不受(?:约束|約束|限制)|没有(?:限制|约束)|从不拒绝|無限制|无限制|越狱).{0,10}"
            "(?:机器人|機器人|助手|人工智能|AI|模型)",
            "你(?:已经?|现在|現在|如今)?(?:获得|獲得|拥有|擁有|被授予|具有|得到)(?:了)?.{0,4}(?:超级用户|超級用戶|管理员|管理員|root|最高|全部).{0,2}(?:权限|權限)",
            "(?:制限|制約|検閲|フィルター|ルール)の?(?:ない|無い|なし|を持たない|されていない)(?:の)?(?:AI|人工知能|アシスタント|モデル|ボット)",
            "あなたは(?:今|いま|現在|すでに)?.{0,4}(?:管理者|スーパーユーザー|root).{0,2}(?:権限|です|だ)",
        ),
    ),
)
"""(what it does, patterns), as in `order_rules.RULES`."""
