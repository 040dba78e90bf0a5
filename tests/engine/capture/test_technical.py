"""Capture without a model keeps what is said of paths, variables, commands, causes and workarounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.engine.capture.recipes.memtui import technical as technical_rules
from memtui.engine.capture.recipes.memtui.statements import identifiers
from memtui.engine.capture.recipes.memtui.texts import read_texts
from memtui.engine.capture.trace import Message

KEPT = {
    "en": (
        "the env var is ATLAS_TOKEN_FILE",
        "DATABASE_URL must be set before make seed",
        "workaround: restart the worker",
        "race condition in auth/middleware.ts",
        "the retry limits live in config/queue.yaml",
        "the importer reads its cursor from INGEST_CURSOR_DIR",
        "our docs are built with make html from the docs folder",
        "the nightly backup failed because the volume was mounted read-only",
        "root cause: the importer crashed on an empty csv",
        "when the emulator hangs, delete ~/.android/cache, that fixes it",
        "until the driver is fixed, plug the scanner in after login",
    ),
    "de": (
        "die Variable heißt ATLAS_TOKEN_FILE",
        "SEED_MODE muss vor dem Import gesetzt sein",
        "Workaround: den Dienst einmal neu starten",
        "der Fehler steckt in auth/middleware.ts",
        "die Seiten bauen wir mit npm run docs",
        "der Import ist fehlgeschlagen, weil die Platte voll war",
        "wenn der Drucker hängt, Netzstecker ziehen, dann geht er wieder",
        "bis der Treiber gepatcht ist, den Scanner erst nach dem Start einstecken",
    ),
    "es": (
        "la variable es ATLAS_TOKEN_FILE",
        "hay que definir SEED_MODE antes de importar",
        "solución provisional: reiniciar el servicio de colas",
        "la condición de carrera está en auth/middleware.ts",
        "las pruebas se lanzan con npm run integracion",
        "la copia falló porque el disco estaba lleno",
        "cuando el lector se cuelga, se desenchufa y vuelve a leer",
    ),
    "fr": (
        "la variable s'appelle ATLAS_TOKEN_FILE",
        "SEED_MODE doit être défini avant l'import",
        "contournement : redémarrer le service de file",
        "la condition de course est dans auth/middleware.ts",
        "pour la doc on utilise npm run docs",
        "la sauvegarde a échoué parce que le disque était plein",
        "quand le lecteur plante, on le débranche et ça repart",
    ),
    "pt": (
        "a variável é ATLAS_TOKEN_FILE",
        "SEED_MODE precisa estar definida antes da importação",
        "contorno: reiniciar o serviço de filas",
        "a condição de corrida fica em auth/middleware.ts",
        "a gente roda os testes com npm run integracao",
        "o backup falhou porque o disco estava cheio",
        "quando o leitor trava, tira da tomada e aí volta",
    ),
    "ru": (
        "переменная называется ATLAS_TOKEN_FILE",
        "SEED_MODE надо задать до импорта",
        "обходной путь: перезапустить сервис очередей",
        "состояние гонки в файле auth/middleware.ts",
        "тесты запускаем через npm run integration",
        "копирование упало, потому что диск был полон",
        "если сканер завис, выдёргиваем кабель, и снова работает",
    ),
    "zh": (
        "环境变量是 ATLAS_TOKEN_FILE",
        "导入之前要先设置 SEED_MODE",
        "临时方案：重启一下队列服务",
        "竞态条件在 auth/middleware.ts 里",
        "我们跑测试用 npm run integration",
        "备份失败是因为磁盘满了",
        "扫描器卡住的时候拔掉线再插上就行",
    ),
    "ja": (
        "環境変数は ATLAS_TOKEN_FILE です",
        "インポートの前に SEED_MODE の設定が必要です",
        "回避策：キューのサービスを再起動",
        "競合状態は auth/middleware.ts にあります",
        "テストは npm run integration で実行しています",
        "バックアップが落ちたのはディスク不足が原因です",
        "スキャナが固まるときはケーブルを抜くと直る",
    ),
}

DROPPED = {
    "en": (
        "what is ATLAS_TOKEN_FILE for?",
        "why did the backup fail?",
        "is there a workaround?",
        "rename LoginForm in auth/middleware.ts to SignIn",
        "run make seed and show me what it prints",
        "run the tests again because they failed",
        "I'm late because the tram broke down this morning",
        "thanks, that fixes it",
        "the build fails again",
        "maybe it crashed because of the proxy, not sure",
        "if the tests fail, tell me",
        "it makes sense to me and/or him",
        "WARNING_MAX=3 exceeded at line 12;",
        "still looking for a workaround",
        "just because",
        "make sure it works",
        "at most 24/7 or 3/4 of it",
        "here is src/app/main.py",
        "now the error is in auth/middleware.ts",
        "in this task set DEBUG_MODE to 1 please",
        "set DEBUG_MODE=1 for this run",
        "TODO_LIST is empty",
        "the workaround is stupid, isn't it",
        "my brother broke up with her because of the move",
        "the market crashed due to the war",
        "let's run make test first",
        "the tests in tests/test_app.py fail",
    ),
    "de": (
        "wofür ist ATLAS_TOKEN_FILE?",
        "warum ist der Import fehlgeschlagen?",
        "gibt es einen Workaround?",
        "bitte auth/middleware.ts umbenennen",
        "starte npm run docs und zeig mir die Ausgabe",
        "vielleicht ist er wegen des Proxys abgestürzt",
        "der Build ist schon wieder kaputt",
        "danke, das hilft",
        "er weint, weil die Tasse kaputt ist",
        "setz SEED_MODE diesmal auf leer",
    ),
    "es": (
        "¿para qué sirve ATLAS_TOKEN_FILE?",
        "¿por qué falló la copia?",
        "ejecuta npm run integracion y dime qué sale",
        "quizás falló por culpa del proxy",
        "otra vez falla la compilación",
        "el partido se rompió porque llovía",
    ),
    "fr": (
        "à quoi sert ATLAS_TOKEN_FILE ?",
        "pourquoi la sauvegarde a échoué ?",
        "lance npm run docs et montre-moi la sortie",
        "peut-être que ça plante à cause du proxy",
        "le build plante encore",
        "il a échoué à son permis parce qu'il était stressé",
        "voici auth/middleware.ts",
    ),
    "pt": (
        "para que serve ATLAS_TOKEN_FILE?",
        "por que o backup falhou?",
        "o build quebrou de novo",
        "rode npm run integracao e me mostre a saída",
        "o time falhou porque choveu",
        "talvez tenha falhado por causa do proxy",
    ),
    "ru": (
        "зачем нужна ATLAS_TOKEN_FILE?",
        "почему упало копирование?",
        "сборка опять упала",
        "запусти npm run integration и покажи вывод",
        "он упал, потому что было скользко",
        "может быть, упало из-за прокси",
    ),
    "zh": (
        "ATLAS_TOKEN_FILE 是干什么用的？",
        "备份为什么失败了？",
        "构建又失败了",
        "跑一下 npm run integration 给我看结果",
        "可能是因为代理才报错",
        "她哭了是因为杯子坏了",
    ),
    "ja": (
        "ATLAS_TOKEN_FILE は何のためですか？",
        "なぜバックアップが落ちたのですか？",
        "またビルドが落ちた",
        "npm run integration を実行して見せて",
        "電車が止まったせいで遅れた",
        "プロキシが原因で落ちたかもしれない",
    ),
}

SECRETS = (
    ("the env var is ATLAS_TOKEN=toad-Lantern-6612", "toad-Lantern-6612"),
    ("the backup failed because DB_PASSWORD was still toad-Lantern-6612", "toad-Lantern-6612"),
    ("workaround: log in with the password toad-Lantern-6612", "toad-Lantern-6612"),
    ("workaround: run mysql -u root -ptoadLantern6612 shop", "toadLantern6612"),
    ("we deploy with curl -u admin:toad-Lantern-6612 https://push.example.org", "toad-Lantern-6612"),
    ("we reset it with sshpass -p toad-Lantern-6612 ssh box", "toad-Lantern-6612"),
    ("we log in with docker login -u ci -p toad-Lantern-6612", "toad-Lantern-6612"),
    ("la variable SMTP_CLAVE es toad-Lantern-6612", "toad-Lantern-6612"),
    ("переменная DB_PASSWORD равна toad-Lantern-6612", "toad-Lantern-6612"),
    ("SESSION_KEY 是 toadLantern6612", "toadLantern6612"),
    ("die Variable SEED_TOKEN muss toad-Lantern-6612 sein", "toad-Lantern-6612"),
    ("a variável API_TOKEN vale toad-Lantern-6612", "toad-Lantern-6612"),
    ("API_SECRET は toadLantern6612 です", "toadLantern6612"),
    ("la variable API_TOKEN doit valoir toad-Lantern-6612", "toad-Lantern-6612"),
)


def _kept(text: str) -> list[str]:
    return [
        each.text for each in read_texts([Message("user", text)], assistant=False).statements if each.sure
    ]


@pytest.mark.parametrize("text", [text for texts in KEPT.values() for text in texts])
def test_what_is_said_of_the_work_is_kept(text: str) -> None:
    [kept] = _kept(text)
    assert kept.casefold() == text.casefold()


@pytest.mark.parametrize("text", [text for texts in DROPPED.values() for text in texts])
def test_a_trigger_word_alone_is_not_kept(text: str) -> None:
    assert _kept(text) == []


@pytest.mark.parametrize("role", ["assistant", "toolResult"])
def test_nobody_elses_finding_is_kept(role: str) -> None:
    messages = [Message(role, text) for texts in KEPT.values() for text in texts]
    assert read_texts(messages, assistant=False).statements == ()


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_in_a_technical_statement_is_never_kept(text: str, secret: str) -> None:
    read = read_texts([Message("user", text)], assistant=False)
    assert secret not in repr(read.statements)
    assert secret not in repr(read.texts)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("can I change the card PIN at the machine?", "mine is still the one from the bank, 4711"),
        ("kann man die Kartenpin selbst ändern?", "meine ist noch die von der Bank, 4711"),
        ("¿puedo cambiar la contraseña del portal?", "la mía es 471147 desde siempre"),
    ],
)
def test_digits_behind_a_question_about_a_secret_are_not_kept(asked: str, told: str) -> None:
    read = read_texts(
        [Message("user", asked), Message("assistant", "Yes."), Message("user", told)], assistant=False
    )
    assert "4711" not in repr(read.statements)
    assert "4711" not in read.texts[2].text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set ATLAS_TOKEN_FILE first", ["ATLAS_TOKEN_FILE"]),
        ("see auth/middleware.ts, line 4", ["auth/middleware.ts"]),
        ("see .github/workflows/ci.yml", [".github/workflows/ci.yml"]),
        ("either and/or both, 3/4 of it", []),
        ("my_variable is lower case", []),
    ],
)
def test_variables_and_relative_paths_are_identifiers(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


def test_what_is_not_searched_holds_nothing(shared: Path) -> None:
    """Words that a pattern needs are looked for before it is searched: no match is lost by that."""
    texts = [
        each["text"]
        for line in (shared / "fixtures" / "capture-offline" / "texts.jsonl").read_text("utf-8").splitlines()
        if isinstance((each := json.loads(line)).get("text"), str)
    ]
    texts += ["run ./x --fast", "`make seed` fails", "keep it until the fix lands", "a 503 after each deploy"]
    patterns = (technical_rules._FAILURE, technical_rules._UNTIL, technical_rules._COMMAND)
    lost = [
        text
        for text in texts
        for asked, pattern in zip(technical_rules._worth_a_search(text), patterns, strict=True)
        if not asked and pattern.search(text)
    ]
    assert lost == []
    assert technical_rules._hints()[0]._by_word, "words are looked up, not searched for one by one"
    quiet = technical_rules._worth_a_search("My printer 12 is looked upon by Ines from York every Monday.")
    assert quiet == (False, False, False)
