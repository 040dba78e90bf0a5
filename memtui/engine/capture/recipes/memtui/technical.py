"""What people say of their work with machines, told by its shape: causes, workarounds and commands.

Other rules go by how a sentence is worded and leave out what speaks of a failure: it is mostly work in progress.
Here a failure is no obstacle where the sentence says why it came, how to get round it, or what is run here. A
trigger word alone does not count: a cause needs its failure, a workaround its way out, a command its habit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memtui.engine.core.hints import Hints, hinted


@dataclass(frozen=True, slots=True)
class Technical:
    """What a technical statement is, in words, and the words that tell it."""

    told: str
    words: str


_FAILURE = re.compile(
    r"\b(?:err(?:or|ors)|fail\w*|crash\w*|broke|broken|breaks|hang(?:s|ing)?|hung|stuck|freez\w+|froze|frozen|flaky|timeouts?|times out|timed out"
    r"|leak\w*|corrupt\w*|segfault\w*|deadlock\w*|race condition|reject\w*|refus\w+|crawl\w*|slow\w*|not working|stopped working|keeps? cutting out|kept cutting out|won'?t (?:start|build|boot|connect|compile)|outage|bug"
    r"|fehler\w*|fehl(?:schlug|schlägt|geschlagen)|(?:ging|geht|fiel|fällt|schaltet\w*) (?:nur |immer |ständig |dauernd )?(?:aus|ab)|schlug fehl|schlägt fehl|abst(?:urz|ürzt)\w*|abgestürzt|kaputt|hängt|hing|scheitert\w*|ausfall\w*|ausgefallen|ablehnung\w*|ging nicht|geht nicht|startet nicht|läuft nicht|gesperrt"
    r"|fall(?:a|ó|aba|an|aban|o|os)|romp(?:e|ió|ía)|cuelga|colgaba|colgó|se cae|caía|rechaza\w*|no (?:arranca|funciona|conecta)\w*|errores"
    r"|échou\w+|erreur\w*|plant(?:e|ait|é)|pannes?|bloqu(?:e|ait|é)|ne (?:démarr|march|fonctionn)\w+|disjonct\w+"
    r"|falh(?:a|ou|ava|am|as)|erros?|quebr(?:a|ou|ava)|trav(?:a|ou|ava)|par(?:ou|ava)|cai(?:u|a)|não (?:funciona|sobe|conecta)\w*"
    r"|ошибк\w+|пада(?:ет|л\w*|ют)|упал\w*|сломал\w*|завис\w*|отвалива\w+|отвал\w+|тормоз\w+|не (?:работа\w+|запуска\w+|собира\w+)|сбо[йия]\w*"
    r"|[45]\d\d(?= (?:after|nach|después|après|depois|после)))\b"
    r"|失败|报错|错误|崩溃|卡死|卡住|乱码|超时|挂了|挂掉|打不开|起不来|脱机|OOM|故障|异常|失敗|エラー|落ち(?:た|る|て)|動かな|止ま(?:る|った)|固ま(?:る|った)|文字化け|壊れ|不具合",
    re.IGNORECASE,
)
"""What went wrong."""

_REASON = re.compile(
    r"\b(?:bc of|because of|caused by|due to|root cause|(?:was|were) causing|the culprit"
    r"|wegen|ursache|lag (?:daran|an)|liegt (?:daran|an)|verursacht|schuld war|deshalb|daher"
    r"|debido a|por culpa de|la causa|causad[oa] por|provocad[oa] por|de ahí"
    r"|à cause d|la cause|causée? par|provoquée? par|c['’]est qu[e'’]|d['’]où"
    r"|por causa d[eoa]s?|devido a[os]?|a causa|por isso"
    r"|из-за|причин[аойыу]|вызван\w*|поэтому)\b"
    r"|因为|由于|原因是|是因为|导致|造成|引起|触发|が原因|のせい|原因は|ために(?:失敗|落ち|止)|ため(?:エラー|失敗)",
    re.IGNORECASE,
)
"""A word that says why, on either side of the failure."""

_BECAUSE = re.compile(r"\b(?:because|bc|cuz|weil|porque|parce qu(?:e|['’])|pq|потому что)\b", re.IGNORECASE)
"""A word that says why, of what stands before it."""

_MACHINE = re.compile(
    r"\b(?:build|tests?|suite|deploy\w*|server|service|worker|backup|database|db|import\w*|export\w*|jobs?|batch|app|api|queue|cache|container|pod|cluster|network|router|wifi|proxy|driver|printer|scanner|disk|script|pipeline|ci|login|sync|upload|download|website|page|browser|update|migration|checkout|log(?:s|ging)?|signing|emulator|boiler|heating|washing machine|dishwasher|e-bike|car|engine|phone|laptop|sensor"
    r"|dienst|datenbank|warteschlange|netzwerk|treiber|drucker|platte|skript|seite|anmeldung|heizung|waschmaschine|spülmaschine|auto|motor|handy|rechner|sicherung|außenfühler|versandserver|kühlschrank"
    r"|servidor|servicio|copia|base de datos|cola|red|impresora|lector|disco|página|compilación|despliegue|pruebas|caldera|lavadora|coche|móvil"
    r"|serveur|service|sauvegarde|base|file|réseau|imprimante|lecteur|disque|page|déploiement|factures?|chaudière|lave-linge|voiture|téléphone"
    r"|serviço|banco|fila|rede|impressora|leitor|testes|caldeira|carro|celular"
    r"|сервер\w*|сервис\w*|сборк\w+|тест\w*|копировани\w*|бэкап\w*|баз[аыу]|очеред\w+|сет[ьи]|принтер\w*|диск\w*|скрипт\w*|вебхук\w*|деплой\w*|сайт\w*|кот[её]л\w*|машин\w+)\b"
    r"|备份|服务|数据|构建|测试|部署|导出|导入|网关|接口|打印机|磁盘|内存|脚本|页面|验签|登录|网络|锅炉|バックアップ|サーバ|バッチ|ビルド|テスト|デプロイ|ディスク|プリンタ|スキャナ|ネットワーク|ログ|ジョブ|画面"
    r"|(?-i:\b[A-Z]{3,}\b|\b[A-Z]+[a-z]+[A-Z]\w*)",
    re.IGNORECASE,
)
"""A thing of software or a device that can fail; an acronym, a name in camel case."""

_PERSON = re.compile(
    r"^(?:i|i['’]\w+|he|she|you|they|my (?:mum|mom|dad|kid|son|daughter)|ich|er|du|yo|je|j['’]\w+|tu|eu|ela?e?|я|он|она|ты)\b|^(?:我|他|她|你|私|僕|俺|彼)",
    re.IGNORECASE,
)
"""It is about a person, not about a thing that failed."""

_LOCATED = re.compile(
    r"^(?:the |an? |der |die |das |ein |el |la |un[ae]? |le |l['’]|o |a |um[a]? )?(?:bug|(?:memory )?leak|race(?: condition)?|deadlock|fault|typo|fehler|bug|leck|tippfehler|fallo|error|fuga|condición de carrera|erreur|faute|fuite|condition de course|erro|falha|vazamento|condição de corrida|ошибка|баг|утечка|опечатка|состояние гонки)"
    r"(?: (?:is|was|sits|lives|steckt|liegt|ist|war|está|estaba|est|était|se trouve|fica|estava|находится|была?))? (?:in|inside|im|en|dans|em|no|na|в)\b"
    r"|^.{0,8}(?:bug|BUG|错误|竞态|泄漏|死锁).{0,6}在|^.{0,8}(?:バグ|不具合|競合|リーク).{0,6}は.{2,}に",
    re.IGNORECASE,
)
"""It says where a fault is."""

_VARIABLE = re.compile(
    r"\b(?:env(?:ironment)? var(?:iable)?|(?:umgebungs)?variable|variável|variable d['’]environnement|переменная(?: окружения)?)\b.{1,24}?(?-i:\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"
    r"|(?:环境)?变量.{0,6}?(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)",
    re.IGNORECASE,
)
"""It says what a variable is called."""

_SIGNED_IN = re.compile(
    r"log(?:ged)? ?in|login|sign(?:ed)? ?in|passw|password|credential|\bpin\b|\bcode\b|alarm|anmeld|einlogg|kennwort|sesión|contraseña|clave|connexion|connect(?:er|é)|mot de passe|entrar|senha|войти|логин|парол|\bкод|登录|登陆|密码|口令|ログイン|暗証|パスワード",
    re.IGNORECASE,
)

_OPAQUE = re.compile(
    r"(?<![\w/.~:=@$<-])(?=\S*[^\W\d])(?=\S*\d)(?!\S*[/.<>]\S)(?!v?\d)\S{8,}|(?<![\w.:/-])\d{4,8}(?![\w.:/-])"
)
"""A token of letters and digits, or digits alone, that could be what somebody signs in with."""

_FOUND = re.compile(
    r"^(?:(?:ah|ok|oh|so|well|yep|right|bon|bueno|also|ну|так)[,!. ]+)?(?:found (?:it|the (?:cause|bug|culprit|problem))|figured (?:it )?out|(?:i )?know why|hab(?:e|['’])? (?:den |das )?(?:fehler|problem|es)(?: gefunden)?|ya (?:vi|s[eé]) por ?qu[eé]|ya lo encontr[eé]|era eso|j['’]?ai (?:enfin )?trouvé|g trouvé|(?:on a|ai) compris|achei o (?:erro|problema|bug)|разобрал(?:ся|ась|ись)|понял[аи]? почему|the (?:root )?cause (?:is|was|turned out)|root cause|culprit|turns out|turned out"
    r"|gefunden|(?:die )?ursache|es lag an|schuld war|encontrad[oa]|la causa|era|resultó|trouvé|la cause|achei|a causa|descobri|нашл?[аи]?(?:ёл)?|причина|оказалось)\b.{0,3}[\s:,!]"
    r"|^(?:查出来了|查到了|查明了|破案了|找到了|原因わかった|原因わかりました|原因判明|找到原因|原因是|原因：|原因:|明白了|原因は|原因：|わかりました、)",
    re.IGNORECASE,
)
"""It begins as people begin who found the cause."""

_WAY_ROUND = re.compile(
    r"^(?:(?:the|our|known|current|temporary|die|el|la|le|o|a) )?(?:work[- ]?around|(?:\w+ )?trick(?: that \w+[\w ]{0,20})?|truco|astuce|truque|umgehung|notlösung|übergangslösung|abhilfe|solución (?:temporal|provisional)|contournement|solution (?:de contournement|provisoire)|contorno|solução (?:temporária|de contorno)|gambiarra|обход\w*(?: путь)?|временное решение|костыль)\b(?: (?:for|für|para|pour|для) .{1,40}?)? ?(?:[:：,—–-]|\b(?:is|was) to\b|\bist(?:,| es)|\b(?:es|é) (?=\w+[aei]r\b)|\best de\b).{6,}"
    r"|^(?:临时(?:方案|解决办法|办法|解法)|变通(?:办法|方法|方案)|绕过(?:办法|方法)|回避策|回避方法|暫定対応|暫定対処|対処法|ワークアラウンド)(?:是|は|：|:|，|、).{3,}",
    re.IGNORECASE,
)
"""It calls itself a workaround."""

_UNTIL = re.compile(
    r"\b(?:until|till) .{2,40}\b(?:fix(?:ed|es)?|patch(?:ed)?|merged|released|lands?)\b|\bsolange\b.{2,40}\b(?:bug|fehler|treiberbug)|\bbis (?:der|das|die) .{1,24}(?:fix|patch|behoben|repariert)"
    r"|\bhasta que\b.{2,40}\b(?:arregl|correg|parche|solucion)\w*|\ben attendant (?:le |la |un )?(?:correct|patch|fix)\w*|\benquanto não\b.{2,40}\b(?:correç|corrig|consert|patch|fix)\w*|\bпока не (?:почин|исправ|выйдет)\w*"
    r"|(?:修复|修好|升级)之前|直るまで|修正(?:が出る|される)まで",
    re.IGNORECASE,
)
"""It holds until something is repaired."""

_WHEN = re.compile(
    r"\b(?:if|when|whenever|every time|wenn|falls|sobald|si|cuando|quand|lorsque|se|quando|если|когда)\b|的时候|时，|会|とき|場合|たら|ると",
    re.IGNORECASE,
)

_HELPS = re.compile(
    r"\b(?:works(?: every time| again| fine)?|helps|fixes (?:it|that)|does the trick|gets? it going|clears it|comes back|goes away"
    r"|dann (?:geht|läuft|klappt|wird|startet)|hilft|behebt|se arregla|funciona|se soluciona|vuelve a|ça (?:remarche|repart|passe|marche)|règle le|aí (?:passa|funciona|volta)|resolve|volta ao normal"
    r"|помогает|(?:снова )?работает|проходит|и всё)\b|就行|就好|就能|即可|就可以|でいい|直る|直ります|解決|治る|通る|動く(?:ようになる)?",
    re.IGNORECASE,
)
"""It says that the way out works."""

_PROGRAM = (
    r"(?:make|just|npm|pnpm|yarn|npx|bun|deno|docker|podman|kubectl|helm|git|cargo|go|pip|uv|poetry|pytest|tox|nox|mvn|gradle|\./gradlew|\./[\w./-]+|terraform|ansible-playbook|ansible|fly|flyctl|heroku"
    r"|celery|bundle|rake|rails|php|composer|bin/[\w-]+|python3?|node|psql|systemctl|ssh|rsync|curl|alembic|brew|apt|dotnet|swift|mix|sbt|bazel|just|task|nix|goreleaser|chcp|redis-cli|gh)"
)

_COMMAND = re.compile(
    rf"`[^`\n]{{3,}}`|(?<![\w./-]){_PROGRAM}(?: [\w:./@=<>-]+)* --?[a-z][\w=-]*"
    rf"|(?<![\w./-])(?-i:{_PROGRAM}) (?-i:(?!sure\b|sense\b|it\b|the\b|a\b|an\b|for\b|to\b|that\b|this\b|and\b|or\b|is\b|was\b|in\b|on\b|no\b|some\b|them\b|us\b|me\b|my\b|one\b|de\b|la\b|le\b|und\b|ahead\b|through\b|with\b|out\b|up\b|down\b|back\b|well\b|good\b|now\b|like\b|not\b|do\b)[a-z][\w:./@=-]*)",
    re.IGNORECASE | re.ASCII,
)
"""A program with its argument or its option, or what stands in the marks of code."""

_HABIT = re.compile(
    r"\b(?:we|i|you) (?:always |only |usually |normally )?(?:run|use|deploy|build|start|ship|push|release|test|reset|seed|lint|format|migrate|restore)\b.{0,40}\b(?:with|via|by|using|through|to|before|after)\b"
    r"|\b(?:is|are|gets?|goes|go) (?:always |only )?(?:built|deployed|run|started|made|released|reset|cut|seeded|shipped|tested|generated|restored|migrated|out|done)\b.{0,12}\b(?:with|via|by|using|through)\b"
    r"|^to (?:run|build|deploy|start|reset|seed|test|release|restore|migrate|lint)\b.{2,60}\b(?:run|use|it's|we)\b"
    r"|\b(?:must|has to|have to|needs? to) (?:be )?(?:set|run|done|exported|started)\b"
    r"|\b(?:setzt|bauen|baut|fahren|fährt|starten|startet|deployen|testen|laufen|läuft|macht|machen|geht|rollen) .{0,50}\b(?:mit|über|per)\b|\b(?:wird|werden)\b.{0,40}\b(?:mit|per|über)\b"
    r"|\b(?:se (?:lanzan?|hacen?|despliega|ejecutan?|corren?|usa|construye)|(?:usamos|lanzamos|desplegamos|corremos|ejecutamos))\b"
    r"|\b(?:on|nous) (?:fait|utilise|lance|déploie|passe|lançons|utilisons|déployons)\b|\bse (?:lance|fait|déploie)\b"
    r"|\b(?:a gente|nós) (?:usa|roda|builda|sobe|faz|usamos|rodamos)\b|\b(?:usamos|rodamos|subimos)\b|\b(?:гоняем|запускаем|собираем|деплоим|используем|выкатываем|катим)\b"
    r"|\b(?:gotta|have to|has to|need to|needs to|must|you (?:first )?)\b.{2,60}\b(?:first|otherwise|or else|beforehand)\b|\bbefore (?:you|we|running|the)\b.{2,60}\b(?:gotta|have to|need to|must|run|do)\b"
    r"|\b(?:musst?|muss man|müssen)\b.{0,12}\b(?:erst|zuerst|vorher)\b.{4,}|\b(?:hay que|tienes que|toca)\b.{0,40}\b(?:si no|primero|antes)\b|\bantes de .{2,40}\bhay que\b.{3,}"
    r"|\b(?:faut|il faut|on doit)\b.{2,50}\b(?:avant|sinon|d['’]abord)\b|\b(?:tem que|precisa|é preciso)\b.{2,50}\b(?:antes|senão|primeiro)\b|\bantes de .{2,40}\b(?:tem que|precisa)\b"
    r"|(?:надо|нужно|сначала)(?!\w).{2,50}(?:иначе|сначала|перед)(?!\w)|(?<!\w)(?:перед|до) .{2,30}(?:надо|нужно)(?!\w)|(?:得|要|必须|需要)先.{2,}|先.{2,30}(?:不然|否则|再)|前に.{2,40}(?:ないと|必要|てから)"
    r"|(?:我们|咱们).{0,12}(?:用|跑|执行|通过)|(?:部署|测试|跑|发布|构建|编译|回归|启动|重置).{0,10}用|(?:で|を)(?:実行し|回し|流し|デプロイし|使っ|ビルドし|打つ|リリースし)|(?:リリース|デプロイ|テスト|ビルド|起動)は.{0,12}",
    re.IGNORECASE,
)
"""How people word what is run here as a rule."""

FOR_NOW = re.compile(
    r"^(?:here(?:'s| is| are)|hier ist|aquí (?:está|tienes)|voici|voilà|aqui está|вот|这是|これが)\b"
    r"|^(?:(?:now|still|again|getting|got)[, ]+)*(?:an? |the )?(?:errors?|exceptions?|warnings?|traceback) (?:is )?(?:in|at|from)\b"
    r"|\b(?:for|in) this (?:task|run|time|file|one|test|branch|session)\b|\bthis once\b|\bjust for now\b|\bfor now\b|\bdieses (?:eine )?mal\b|\bfür diesen (?:lauf|test)\b|\bdiesmal\b|\bpor esta vez\b|\b(?:solo|só) esta vez\b|\bcette fois\b|\bpour ce (?:test|run)\b|\bdesta vez\b|\b(?:в|на) этот раз\b|这次|这一次|今回(?:だけ|は)"
    r"|\b(?:is|are|ist|está|est|é)(?: still| now| noch| todavía| encore| ainda)? (?:empty|missing|broken|wrong|undefined|unset|null|not (?:found|set|defined)|leer|kaputt|weg|vacía?|vide|vazi[oa])[.!]?$|\bпуст[аоы]?[.!]?$|是空的。?$|空です。?$",
    re.IGNORECASE,
)
"""Shown, said for this one task, or how a thing stands now."""

_UNDONE = re.compile(
    r"^(?:\W*)(?:why|warum|wieso|por ?qu[eé]|pourquoi|почему|为什么|为啥|なぜ|なんで)\b|\b(?:what if|any idea|no idea|keine ahnung|ni idea|aucune idée|sem ideia)\b|不知道|わからない",
    re.IGNORECASE,
)


_FOUND_LONGEST = 28
"""Characters of a sentence that only says that the cause was found."""


def announces_cause(sentence: str) -> bool:
    """Whether a sentence only says that the cause was found: the next one tells it."""
    return len(sentence) <= _FOUND_LONGEST and _FOUND.match(f"{sentence} ") is not None


def technical(said: str, *, names: bool) -> Technical | None:
    """The cause, workaround or command that a sentence tells, None for none.

    `names` says that it holds an identifier.
    """
    told = _told(said, names)
    if told is None or _UNDONE.search(said) or FOR_NOW.search(said):
        return None
    return None if _SIGNED_IN.search(said) and _OPAQUE.search(said) else told


def _told(said: str, names: bool) -> Technical | None:
    if names and (match := _LOCATED.match(said)):
        return Technical("a cause", match[0])
    if names and (match := _VARIABLE.search(said)):
        return Technical("a variable", match[0])
    if match := _WAY_ROUND.match(said):
        return Technical("a workaround", match[0])
    failure_like, until_like, command_like = _worth_a_search(said)
    until = _UNTIL.search(said) if until_like else None
    if until is not None and len(said) - len(until[0]) > _REST:
        return Technical("a workaround", until[0])
    failure = _FAILURE.search(said) if failure_like else None
    if failure is not None:
        helps = _HELPS.search(said, failure.end())
        if helps is not None and _WHEN.search(said):
            return Technical("a workaround", f"{failure[0]} … {helps[0]}")
        found = _FOUND.match(said)
        if found is None and (names or (_MACHINE.search(said) and not _PERSON.match(said))):
            found = _REASON.search(said) or _BECAUSE.search(said, failure.end())
        if found is not None:
            return Technical("a cause", found[0])
    elif (
        (found := _FOUND.match(said))
        and len(said) - len(found[0]) > _REST
        and (names or _REASON.search(said) or _BECAUSE.search(said))
    ):
        return Technical("a cause", found[0])
    if command_like and _COMMAND.search(said) and (habit := _HABIT.search(said)):
        return Technical("a command", habit[0])
    return None


def _worth_a_search(said: str) -> tuple[bool, bool, bool]:
    """Whether a failure, an end of waiting and a command may stand in a sentence: most hold no word of theirs."""
    if not said.isascii():  # of other scripts words are hardly quicker looked for than the patterns searched
        return True, True, True
    hints, needed = _hints()
    found = hints.found_in(said.lower())
    signed = any(sign in said for sign in _SIGNS)
    if not found:
        return False, False, signed
    failure, until, command = (not each.isdisjoint(found) for each in needed)
    return failure, until, command or signed


@cache
def _hints() -> tuple[Hints, tuple[frozenset[str], ...]]:
    """What one of the patterns needs to match, and that for each of them."""
    needed = tuple(
        frozenset(hinted(pattern.pattern, pattern.flags & ~re.UNICODE).hints)
        for pattern in (_FAILURE, _UNTIL, _COMMAND)
    )
    return Hints(sorted(frozenset().union(*needed) - _SIGNS)), needed


_SIGNS = frozenset(("`", " -"))
"""Marks of a command that are not words; they are searched for separately."""


_REST = 12
"""Characters that must be left when the words that led to a finding are taken away."""
