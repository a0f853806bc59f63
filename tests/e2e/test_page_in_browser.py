"""What a person sees of the report, in a real browser: of tables that were made up, and of a run."""

from pathlib import Path

import polars as pl
import pytest
from tests.support.browser import HEIGHT, READABLE, WIDTHS, cut_off, inside, load, sized, smallest_text, unfold
from tests.support.report_rows import metric, pair
from tests.support.scripts import SCRIPTS

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.datasets.sentences import sentences
from secateur.report.browser import Set, browsed
from secateur.report.page import About, Figures, render
from secateur.report.trace import Traces

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"
NOTHING = pl.lit(None, pl.String)
SCREENS = 8  # of a run's page
DOCUMENTS = "toy_documents_smoke"
SYSTEMS = {"graph_zsum": "graph", "beam": "graph", "hipporag2:controlled": "peer", "title_zsum": "lexical"}


def _tables() -> tuple[pl.DataFrame, ...]:
    """Two data sets, each with the plain ranking and the best row that its systems are compared with."""
    rows, pairs, best = [], [], []
    for dataset, lead in (("harbour", 0.1), ("archive_of_long_names", 0.02)):
        own = {"dataset": dataset, "n": 60, "units": 30}
        for place, system in enumerate(SYSTEMS):
            ahead, behind = lead * (3 - place) / 3, -lead * place / 3
            for budget, value in ((64, 0.5), (128, 0.6), (256, 0.7), ("claim", 0.6)):
                for name in ("evidence_recall", "evidence_coverage", "token_recall"):
                    rows.append(metric(system, f"{name}@{budget}", value + ahead, **own))
            if system != "graph_zsum":
                sizes = {"difference": behind, "low": behind - 0.01, "high": behind + 0.01, "p": 0.001, "p_holm": 0.003}
                best.append(pair(system, "graph_zsum", axis="best", **sizes, **own))
            if system != "title_zsum":
                sizes = {"difference": ahead, "low": ahead - 0.01, "high": ahead + 0.01, "p": 0.001, "p_holm": 0.004}
                pairs.append(pair(system, "title_zsum", **sizes, **own))
    empty = [TABLES[name].empty() for name in ("metrics", "comparisons", "leaders")]
    made = map(pl.DataFrame, (rows, pairs, best))
    return tuple(one.select(e.columns).cast(dict(e.schema)) for one, e in zip(made, empty, strict=True))


def _traced(asked: list[tuple], gold: list[tuple], sent: list[tuple], answers: dict | None = None) -> Traces:
    """asked: (id, question, answer); gold: (id, passage, text); sent: (id, place, passage, text). Recall is full at 512."""
    questions = pl.DataFrame(asked, schema=["question_id", "text", "answer"], orient="row")
    evidence = pl.DataFrame(gold, schema=["question_id", "passage_id", "text"], orient="row").with_columns(n=pl.lit(0))
    contexts = pl.DataFrame(sent, schema=["question_id", "place", "passage_id", "text"], orient="row")
    figures = questions.select("question_id", metric=pl.lit("evidence_recall@512"), value=pl.lit(1.0), hop=NOTHING)
    return Traces(
        questions.with_columns(type=NOTHING), evidence, contexts.with_columns(tokens=pl.lit(21)), figures, answers
    )


def _questions() -> Set:
    ids, gold = [f"q{n}" for n in range(30)], "Alder Ltd bought the Finch mill in 2021."
    asked = [(i, f"Who bought the Finch mill {n}? {HOSTILE}", "Alder Ltd") for n, i in enumerate(ids)]
    golden = [(i, "p0", gold) for i in ids]
    without = [(i, 1, "p1", f"The mill is old. {HOSTILE}\n") for i in ids]
    whole = _traced(asked, golden, [(i, 0, "p0", f"{gold}\n") for i in ids] + without, {"q0": HOSTILE})
    return Set("harbour", {"graph_zsum": whole, "title_zsum": _traced(asked, golden, without)}, 512)


def _six_scripts() -> Set:
    """A question in each of six scripts, with its ten sentences as the context."""
    texts = {name: [text for text, _, _ in sentences(script.text)] for name, script in SCRIPTS.items()}
    asked = [(name, script.question, script.answer) for name, script in SCRIPTS.items()]
    gold = [(name, f"{name}:2", texts[name][2]) for name in SCRIPTS]
    sent = [(name, n, f"{name}:{n}", f"{text}\n") for name in SCRIPTS for n, text in enumerate(texts[name])]
    return Set("scripts", {"graph_zsum": _traced(asked, gold, sent)}, 512)


def _many(count: int) -> Set:
    """So many questions under twelve systems, whose contexts have a few words in common."""
    text = "Alder Ltd bought mill {} in 2021, and the neighbour's in the year after. "
    gold = [(f"q{n}", f"q{n}", text.format(n) * 12) for n in range(count)]
    asked = [(i, f"Who bought mill {i[1:]}?", "Alder Ltd") for i, *_ in gold]
    traces = _traced(asked, gold, [(i, 0, passage, text) for i, passage, text in gold], {"q0": "x"})
    return Set("harbour", {f"system{n}": traces for n in range(12)}, 512)


def _written(path: Path, browsed: dict) -> str:
    """The address of a page as the pipeline writes it, of tables that were made up."""
    metrics, comparisons, leaders = _tables()
    keys = {key: pl.lit("") for key in ("corpus", "dataset", "system", "order")}
    names = ("growth", "score_quantiles", "acceptance", "dataset_statistics", "frontier")
    empty = [TABLES[name].empty().with_columns(**keys) for name in names]
    stated = pl.DataFrame(schema=dict.fromkeys(("dataset", "statistic", "stated", "source"), pl.String))
    growth, spreads, accepted, statistics, frontiers = empty
    tables = (growth, statistics, stated, spreads, accepted, frontiers)
    figures = Figures(metrics, comparisons, leaders, TABLES["equal_quality"].empty(), [], *tables, (), SYSTEMS, browsed)
    variants = [
        {"dataset": d, "system": s, "order": "blind", "file": f"results/{d}/evidence/{'long' * 30}/{s}.parquet"}
        for d in ("harbour", "archive_of_long_names")
        for s in SYSTEMS
    ]
    path.write_text(render(About("tiny@60", f"Title {HOSTILE}", 10, (64, 128, 256), variants), figures))
    return path.as_uri()


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    return _written(tmp_path_factory.mktemp("page") / "report.html", browsed([_questions()]))


@pytest.fixture
def opened(driver, page):
    load(driver, page)
    sized(driver, 1400)
    return driver


@pytest.fixture
def real(driver, smoke):
    load(driver, (smoke.root / "results/experiments/smoke/report.html").as_uri())
    sized(driver, 1400)
    return driver


@pytest.fixture(params=["opened", "real"])
def either(request):
    return request.getfixturevalue(request.param)


def severe(driver) -> list[dict]:
    return [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.parametrize("width", WIDTHS)
def test_at_every_width_the_first_screen_has_finding_and_board_nothing_is_cut_off_and_plots_can_be_read(either, width):
    sized(either, width)
    assert inside(either, "#finding")["top"] >= 0
    assert inside(either, "#leaderboard tbody tr:nth-child(4)")["bottom"] <= HEIGHT
    for change in (lambda _: None, unfold):
        change(either)
        assert cut_off(either) == []
        assert smallest_text(either)[0] >= READABLE
    assert severe(either) == []


def test_the_finding_and_the_leaderboard_say_what_the_tables_hold(opened):
    said = opened.find_element("id", "finding").text
    assert said.startswith("harbour: graph_zsum holds more evidence than the best baseline (")
    assert said.endswith(", n = 60.")
    assert "LIMIT=60" in opened.find_element("class name", "limit").text
    names = [head.text for head in opened.find_elements("css selector", "#leaderboard tbody th")]
    assert names == ["graph_zsum", "beam", "hipporag2:controlled", "title_zsum"]
    assert opened.find_element("css selector", "#leaderboard .note").text.startswith("harbour, order-blind, mean of 64")


def test_another_data_set_is_another_leaderboard_and_what_has_no_choice_is_hidden(opened):
    selects = opened.find_elements("css selector", "#leaderboard select")
    assert [one.is_displayed() for one in selects] == [True, False, False, False]  # set, metric, budget, order
    assert "-0.067" in opened.find_element("css selector", "#leaderboard tbody tr:nth-child(3)").text
    selects[0].find_elements("tag name", "option")[1].click()
    assert opened.find_element("css selector", "#leaderboard .note").text.startswith("archive_of_long_names")
    assert "-0.013" in opened.find_element("css selector", "#leaderboard tbody tr:nth-child(3)").text


def test_a_plot_shows_the_metric_that_is_chosen(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    def drawn() -> list:
        return [one for one in opened.find_elements("css selector", ".switched figure") if one.is_displayed()]

    where = ("css selector", "h2 ~ .asking:not(#browser .asking) select")
    choice = WebDriverWait(opened, 60).until(lambda page: page.find_elements(*where))[0]  # a busy machine draws late
    before, metrics = drawn(), choice.find_elements("tag name", "option")
    assert len(metrics) == 3
    metrics[2].click()
    after = drawn()
    assert len(before) == len(after)
    assert before[0] != after[0]


def test_a_table_sorts_without_a_server(opened):
    unfold(opened)
    table = next(t for t in opened.find_elements("tag name", "table") if "64 tokens" in t.text)

    def firsts():
        return [row.text.split()[0] for row in table.find_elements("css selector", "tbody tr") if row.is_displayed()]

    head = table.find_elements("css selector", "thead th button")[1]
    head.click()
    assert firsts() == ["graph_zsum", "beam", "hipporag2:controlled", "title_zsum"]
    head.click()
    assert firsts() == ["title_zsum", "hipporag2:controlled", "beam", "graph_zsum"]
    head = opened.execute_script("return arguments[0].querySelector('th[aria-sort]').getAttribute('aria-sort')", table)
    assert head == "ascending"


def test_a_question_is_found_and_its_gold_is_marked_on_the_side_that_has_it(opened):
    search = opened.find_element("id", "search")
    search.send_keys("q17")
    shown = opened.find_elements("css selector", "#question option")
    assert [one.text.partition(":")[0] for one in shown] == ["q17"]
    left, right = (opened.find_element("id", side) for side in ("leftside", "rightside"))
    (gold,) = left.find_elements("css selector", ".context .gold")
    assert gold.text.strip() == "Alder Ltd bought the Finch mill in 2021."
    assert right.find_elements("css selector", ".context .gold") == []
    assert "mill" in [mark.text for mark in right.find_elements("tag name", "mark")]
    assert "21 tokens" in left.text
    assert "evidence recall 1" in left.text
    opened.find_element("css selector", "#left option:nth-child(2)").click()
    assert opened.find_element("css selector", "#leftside h3").text == "title_zsum"
    search.send_keys(" nothing like it")
    assert "No question is like this." in opened.find_element("id", "asked").text


def test_of_ten_thousand_questions_some_are_shown_and_2000_listed_and_each_of_those_is_found(driver, tmp_path):
    made = browsed([_many(10_000)])
    shown = [one["id"] for one in made["sets"][0]["questions"]]
    load(driver, _written(tmp_path / "report.html", made))
    matches = driver.find_element("id", "matches")
    assert matches.text == f"{len(shown)} of 10000 questions, the first 2,000 listed"
    driver.find_element("id", "search").send_keys(shown[-1])
    assert matches.text == "1 of 10000 questions"
    assert f"mill {shown[-1][1:]} in 2021" in driver.find_element("css selector", "#leftside .context").text


def test_hostile_words_are_words(opened):
    assert "<img src=x" in opened.find_element("id", "asked").text
    assert "<img src=x" in opened.find_element("tag name", "h1").text
    assert opened.execute_script("return window.hacked") is None
    assert severe(opened) == []


def test_a_figure_is_saved_as_a_drawing_that_needs_no_page(opened):
    saved = opened.execute_script(
        """
        return new Promise((told) => {
            URL.createObjectURL = (blob) => { blob.text().then(told); return '#'; };
            document.querySelector('figure:not([hidden]) .save').click();
        });
        """
    )
    assert saved.startswith("<svg")
    assert "http://www.w3.org/2000/svg" in saved
    assert "var(" not in saved
    assert "graph_zsum" in saved


def test_dark_and_light_are_two_papers(opened):
    paper = "return getComputedStyle(document.body).backgroundColor"
    seen = []
    for value in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": value}]
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        seen.append(opened.execute_script(paper))
    assert seen[0] == "rgb(255, 255, 255)" != seen[1]


def test_everything_that_acts_can_be_reached_by_a_keyboard_and_has_a_name(opened):
    unnamed = """
        const said = (one) => (one.textContent || one.getAttribute('aria-label') || one.labels?.[0]?.textContent || '').trim();
        return [...document.querySelectorAll('button, select, input, summary, a')].filter((one) => !said(one)
            || one.tabIndex < 0).map((one) => one.outerHTML);
    """
    assert opened.execute_script(unnamed) == []
    assert opened.execute_script(
        "return [...document.querySelectorAll('svg')].every((s) => s.getAttribute('aria-label'))"
    )


def test_a_browser_without_scripts_shows_everything_but_the_questions(opened, page):
    opened.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        load(opened, page)
        assert opened.find_element("id", "finding").is_displayed()
        assert opened.find_element("css selector", "#leaderboard table").is_displayed()
        assert "secateur show tiny@60 QUESTION_ID" in opened.find_element("tag name", "noscript").text
        assert not opened.find_element("id", "browser").is_displayed()
    finally:
        opened.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_each_script_is_read_from_its_side_and_its_words_are_marked(driver, tmp_path):
    load(driver, _written(tmp_path / "scripts.html", browsed([_six_scripts()])))
    sized(driver, 1200, 1400)
    for number, name in enumerate(SCRIPTS):
        driver.execute_script(
            "const s = document.querySelector('#question'); s.value = arguments[0]; s.dispatchEvent(new Event('change'));"
            "document.querySelector('#browser').scrollIntoView()",
            str(number),
        )
        side = "rtl" if name == "Arabic" else "ltr"
        for place in ("#asked .finding", "#asked .golden li", "#asked bdi", "#leftside .context"):
            shown = driver.execute_script(
                "return getComputedStyle(document.querySelector(arguments[0])).direction", place
            )
            assert shown == side, (name, place)
        marked = driver.execute_script("return document.querySelectorAll('#leftside .gold mark').length")
        assert marked >= 3, name


# --- the page of a run ------------------------------------------------------------------------------


def test_the_page_of_a_run_is_a_few_screens_long(real):
    height = real.execute_script("return document.documentElement.scrollHeight")
    assert HEIGHT < height <= SCREENS * HEIGHT


def test_the_field_above_a_long_table_filters_it(real):
    unfold(real)
    from selenium.webdriver.common.keys import Keys

    fields = real.find_elements("css selector", "details input[placeholder='filter rows']")
    beside = [(field, field.find_element("xpath", "following-sibling::div[1]")) for field in fields]
    field, table = max(beside, key=lambda pair: len(pair[1].find_elements("css selector", "tbody tr")))

    def shown() -> list[str]:
        rows = table.find_elements("css selector", "tbody tr")
        return [row.find_element("css selector", "th").text for row in rows if row.is_displayed()]

    every = shown()
    assert len(every) > 20
    texts = [row.get_attribute("textContent").lower() for row in table.find_elements("css selector", "tbody tr")]
    word = min(every, key=lambda name: sum(name.lower() in text for text in texts))
    kept = [name for name, text in zip(every, texts, strict=True) if word.lower() in text]
    assert 0 < len(kept) < len(every)
    field.send_keys(word)
    assert shown() == kept
    field.send_keys(" nothing")
    assert shown() == []
    field.send_keys(*[Keys.BACKSPACE] * len(f"{word} nothing"))
    assert shown() == every


def test_answers_stand_under_the_contexts_they_were_given_to(real, smoke):
    paths = (smoke.root / "results").glob(f"{DOCUMENTS}/{DOCUMENTS}/answers/contexts/lexical/*/zsum/**/answers.parquet")
    found = pl.concat([read_table(TABLES["answers"], path) for path in paths])
    question, answer = found.filter(pl.col("text") != "").select("question_id", "text").row(0)
    real.find_element("id", "search").send_keys(question)
    names = [one.text for one in real.find_elements("css selector", "#right option")]
    real.find_element("css selector", f"#right option:nth-child({names.index('rag_zsum') + 1})").click()
    said = real.find_element("css selector", "#rightside > p:last-child").get_attribute("textContent")
    assert said == f"Answer: {answer}"
    assert real.find_element("css selector", "#rightside .context").text.strip()


def test_what_a_row_cost_can_be_seen_and_every_difference_behind_the_fold(real):
    titles = [head.text for head in real.find_elements("css selector", "h3")]
    assert titles.index("Answers under each context") < titles.index("What it costs")
    folded = real.find_element("css selector", "#more ~ details")
    assert not folded.find_element("tag name", "table").is_displayed()
    unfold(real)
    assert "Differences to the best plain ranking" in folded.text
    assert "not enough data" in folded.text
