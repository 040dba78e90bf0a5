"""Questions in scripts that the bundled model never learned: keywords lead, and the answer says so."""

from __future__ import annotations

import numpy as np
import pytest

from memtui.engine import RecallRequest
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui.pairs import pairs_of
from memtui.engine.recall.recipes.memtui.scripts import coverage, learned_scripts
from memtui.engine.recall.recipes.memtui.settings import fitted, resolve_own
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS, thinned
from tests.engine.pro_store import row, write_store
from tests.quality import goals, languages
from tests.quality.dialogues import Turn, write
from tests.quality.tuning import by_recipe, by_words

MEMORIES = {
    "zh": (
        "数据库的主机在上海机房，端口是五千四百三十二。",
        "周一早上九点开站会，地点在三号会议室。",
        "小李负责支付网关的证书更新。",
        "发布窗口是每周四下午两点到四点。",
        "日志保存三十天以后自动删除。",
        "客户要求发票必须用中文开具。",
    ),
    "ja": (
        "データベースのホストは東京のデータセンターにあります。",
        "毎週月曜日の朝九時に朝会を開きます。",
        "田中さんは決済ゲートウェイの証明書を更新します。",
        "リリースは木曜日の午後二時からです。",
        "ログは三十日後に削除されます。",
    ),
    "ko": (
        "데이터베이스 서버는 서울 데이터센터에 있습니다.",
        "매주 월요일 아침 아홉 시에 회의를 합니다.",
        "민수는 결제 게이트웨이의 인증서를 갱신합니다.",
        "배포는 목요일 오후 두 시에 시작합니다.",
        "로그는 삼십 일 후에 삭제됩니다.",
    ),
    "ar": (
        "خادم قاعدة البيانات موجود في مركز البيانات في دبي.",
        "الاجتماع كل يوم اثنين في الساعة التاسعة صباحا.",
        "سامي مسؤول عن تجديد شهادة بوابة الدفع.",
        "نافذة النشر يوم الخميس بعد الظهر.",
        "تحذف السجلات بعد ثلاثين يوما.",
    ),
    "ru": (
        "Сервер базы данных стоит в московском дата-центре.",
        "Планёрка проходит каждый понедельник в девять утра.",
        "Иван обновляет сертификат платёжного шлюза.",
        "Окно выкладки в четверг после обеда.",
        "Журналы удаляются через тридцать дней.",
    ),
}
QUESTIONS = (
    ("zh", "数据库的端口是多少？", 0),
    ("zh", "站会在哪个会议室？", 1),
    ("zh", "谁负责证书更新？", 2),
    ("zh", "发布窗口是什么时候", 3),
    ("zh", "日志保存多久", 4),
    ("zh", "发票有什么要求", 5),
    ("ja", "データベースのホストはどこですか", 0),
    ("ja", "証明書は誰が更新しますか", 2),
    ("ja", "リリースは何曜日ですか", 3),
    ("ko", "데이터베이스 서버는 어디에 있습니까", 0),
    ("ko", "결제 게이트웨이의 인증서", 2),
    ("ko", "로그는 언제 삭제됩니까", 4),
    ("ar", "أين خادم قاعدة البيانات", 0),
    ("ar", "من المسؤول عن شهادة بوابة الدفع", 2),
    ("ar", "متى نافذة النشر", 3),
    ("ru", "где стоит сервер базы данных", 0),
    ("ru", "кто обновляет сертификат шлюза", 2),
    ("ru", "когда окно выкладки", 3),
)


MIXED = (
    "checkout 服务监听 8443 端口，配置在 deploy/checkout.yaml。",
    "Отчёт собирает job_nightly_42 на сервере Falcon.",
    "배포 스크립트는 scripts/release_all.sh 입니다.",
    "ログの保存先は s3://logs-tokyo-7 です。",
    "ملف الإعدادات هو config/prod.toml على الخادم Atlas.",
    "Our Berlin office calls the 财务系统 simply Finnie.",
)
MIXED_QUESTIONS = (
    ("checkout 服务的端口是多少", 0),
    ("deploy/checkout.yaml", 0),
    ("что делает job_nightly_42", 1),
    ("Falcon 서버 отчёт", 1),
    ("scripts/release_all.sh", 2),
    ("배포 스크립트 어디", 2),
    ("ログの保存先はどこですか", 3),
    ("where is logs-tokyo-7", 3),
    ("config/prod.toml أين", 4),
    ("what is Finnie", 5),
    ("财务系统 nickname", 5),
)
"""Two scripts in one text, identifiers among them, and questions in either."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> RecallContext:
    turns = [
        Turn(f"{language}{at}", "all", "", text, language, NOW_MS - 86_400_000)
        for language, texts in {**MEMORIES, "mixed": MIXED}.items()
        for at, text in enumerate(texts)
    ]
    folder = write(tmp_path_factory.mktemp("scripts") / "store", turns, prefixed=False)
    return RecallContext(open_store(folder), NOW_MS, bundled().embed_query, bundled=True)


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, goals.Set]:
    return goals.in_languages(tmp_path_factory.mktemp("languages") / "store")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> RecallContext:
    """The same memories in a table of memory-lancedb-pro, whose index leaves such runs whole."""
    rows = [
        row(f"{language}{at}", text, bundled().embed_passages([text])[0].tolist(), age=1)
        for language, texts in MEMORIES.items()
        for at, text in enumerate(texts)
    ]
    folder = write_store(tmp_path_factory.mktemp("plugin") / "store", rows, dims=BUNDLED_DIMS)
    return RecallContext(open_store(folder), NOW_MS, bundled().embed_query, bundled=True)


@pytest.mark.parametrize(("language", "question", "at"), QUESTIONS)
def test_no_language_is_worse_than_keyword_search_alone(
    bench: RecallContext, language: str, question: str, at: int
) -> None:
    trace = recall(RecallRequest(question, recipe="memtui"), bench)
    words = bench.store.fts_search(question, k=20, columns=["id"]).column("id").to_pylist()
    wanted = f"{language}{at}"
    assert wanted in trace.returned
    by_words = words.index(wanted) if wanted in words else len(words)
    assert trace.returned.index(wanted) <= by_words
    assert any("never learned" in finding for finding in trace.findings)
    assert trace.config["memtui"]["bm25Weight"] == 1.0
    assert trace.proof.recomputed


@pytest.mark.parametrize(("question", "at"), MIXED_QUESTIONS)
def test_mixed_scripts_and_identifiers_are_no_worse_than_keyword_search_alone(
    bench: RecallContext, question: str, at: int
) -> None:
    trace = recall(RecallRequest(question, recipe="memtui"), bench)
    words = bench.store.fts_search(question, k=20, columns=["id"]).column("id").to_pylist()
    by_words = words.index(f"mixed{at}") if f"mixed{at}" in words else len(words)
    assert f"mixed{at}" in trace.returned
    assert trace.returned.index(f"mixed{at}") <= by_words
    assert trace.proof.recomputed


@pytest.mark.parametrize(
    ("language", "question", "at"), [each for each in QUESTIONS if each[0] in ("zh", "ja")]
)
def test_a_plugins_store_is_searched_by_pairs_of_letters(
    plugin: RecallContext, language: str, question: str, at: int
) -> None:
    found = recall(RecallRequest(question, recipe="memtui"), plugin)
    assert f"{language}{at}" in found.returned[:2]
    assert any("pairs of letters" in warning for warning in found.warnings)
    assert found.proof.recomputed
    assert not plugin.store.fts_search(question, k=20, columns=["id"]).num_rows, "its own index finds nothing"


def test_pairs_are_those_of_scripts_without_spaces() -> None:
    assert pairs_of("checkout 服务的 port x 火") == ("服务", "务的", "火")
    assert pairs_of("where is the port") == ()


def test_the_vocabulary_decides_and_not_a_list_of_languages() -> None:
    assert learned_scripts(bundled()) == {"LATIN"}
    assert coverage("Wo läuft die Datenbank?", bundled()).uncovered == 0
    assert coverage("LK-2089", bundled()).uncovered == 0
    mixed = coverage("checkout 服务的端口", bundled())
    assert mixed.scripts == ("CJK",)
    assert 0.5 < mixed.uncovered < 1


def test_given_vectors_are_trusted_whatever_the_script() -> None:
    own, _ = resolve_own(None, bundled=False, question="数据库的端口是多少")
    assert (own.vector_weight, own.bm25_weight, own.late_weight) == (0.3, fitted("notes")["bm25Weight"], 0.3)


def test_weights_that_a_person_gives_stay_as_they_are() -> None:
    own, findings = resolve_own({"memtui": {"bm25Weight": 0.5}}, bundled=True, question="数据库的端口")
    assert own.bm25_weight == 0.5
    assert "keywords count 0.5" in findings[-1]


def test_keywords_count_more_in_a_long_question() -> None:
    weights = [
        resolve_own(None, bundled=True, question="word " * n)[0].bm25_weight for n in (3, 12, 26, 40, 90)
    ]
    least = fitted("notes")["bm25Weight"]
    assert weights == pytest.approx([least, least, least + 0.1, least + 0.2, least + 0.2])


@pytest.mark.parametrize("name", thinned(languages.LANGUAGES, 3))
def test_facts_that_are_easily_mistaken_are_found_no_worse_than_by_keywords(
    talks: dict[str, goals.Set], name: str
) -> None:
    bench, asked = talks[name]
    ours, words = by_recipe(bench), by_words(bench)
    made = [goals.measures(ours(each), each.relevant)[1] for each in asked]
    plain = [goals.measures(words(each), each.relevant)[1] for each in asked]
    assert np.mean(made) >= np.mean(plain) - 0.005
    assert np.mean(made) > 0.5
