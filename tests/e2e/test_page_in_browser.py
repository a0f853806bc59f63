"""What a person sees of the report, in a real browser: sizes, the first sentence, questions, hostile data."""

from pathlib import Path

import polars as pl
import pytest
from tests.support.browser import HEIGHT, READABLE, WIDTHS, cut_off, inside, load, sized, smallest_text, unfold
from tests.support.scripts import SCRIPTS

from secateur.core.tables.catalog import TABLES
from secateur.datasets.sentences import sentences
from secateur.report.browser import Set, browsed
from secateur.report.page import About, Figures, render
from secateur.report.trace import Traces

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"
SYSTEMS = {"graph_zsum": "graph", "beam": "graph", "hipporag2:controlled": "peer", "title_zsum": "lexical"}


def _tables() -> tuple[pl.DataFrame, ...]:
    """Two data sets, each with the plain ranking and the best row that its systems are compared with."""
    rows, pairs, best = [], [], []
    for dataset, lead in (("harbour", 0.1), ("archive_of_long_names", 0.02)):
        whole = {"dataset": dataset, "order": "blind", "scorer": None, "answer_aware": False, "subset": "all"}
        whole |= {"n": 60, "units": 30, "split": "all"}
        for place, system in enumerate(SYSTEMS):
            for budget, value in ((64, 0.5), (128, 0.6), (256, 0.7), ("claim", 0.6)):
                for metric in ("evidence_recall", "evidence_coverage", "token_recall"):
                    mean = value + lead * (3 - place) / 3
                    own = {"system": system, "metric": f"{metric}@{budget}", "value": mean, "published": False}
                    rows.append(whole | own | {"low": mean - 0.05, "high": mean + 0.05})
            if system != "graph_zsum":
                own = {"metric": "evidence_recall@claim", "system": system, "baseline": "graph_zsum", "axis": "best"}
                size = -lead * place / 3
                own |= {"baseline_scorer": None, "difference": size, "low": size - 0.01, "high": size + 0.01}
                best.append(whole | own | {"p": 0.001, "p_holm": 0.003})
            if system != "title_zsum":
                size = lead * (3 - place) / 3
                own = {"metric": "evidence_recall@claim", "system": system, "baseline": "title_zsum"}
                own |= {"baseline_scorer": None, "axis": "ranker", "difference": size, "low": size - 0.01}
                pairs.append(whole | own | {"high": size + 0.01, "p": 0.001, "p_holm": 0.004})
    empty = [TABLES[name].empty() for name in ("metrics", "comparisons", "leaders")]
    made = (pl.DataFrame(rows), pl.DataFrame(pairs), pl.DataFrame(best))
    return tuple(one.select(e.columns).cast(dict(e.schema)) for one, e in zip(made, empty, strict=True))


def _questions() -> Set:
    ids = [f"q{n}" for n in range(30)]
    asked = pl.DataFrame(
        {"question_id": ids, "text": [f"Who bought the Finch mill {n}? {HOSTILE}" for n in range(30)]}
    ).with_columns(answer=pl.lit("Alder Ltd"), type=pl.lit("1-hop"))
    gold = pl.DataFrame({"question_id": ids, "n": [0] * 30, "passage_id": ["p0"] * 30})
    gold = gold.with_columns(text=pl.lit("Alder Ltd bought the Finch mill in 2021."))
    pieces = {"question_id": [i for i in ids for _ in (0, 1)], "place": [0, 1] * 30, "passage_id": ["p0", "p1"] * 30}
    texts = ["Alder Ltd bought the Finch mill in 2021.\n", f"The mill is old. {HOSTILE}\n"] * 30
    sent = pl.DataFrame(pieces | {"text": texts, "tokens": [21] * 60})
    figures, without = _recalls(ids), sent.filter(pl.col("passage_id") == "p1")
    secateur = Traces(asked, gold, sent, figures, {"q0": HOSTILE})
    return Set("harbour", {"graph_zsum": secateur, "title_zsum": Traces(asked, gold, without, figures.head(0))}, 512)


def _six_scripts() -> Set:
    """A question in each of six scripts, with its ten sentences as the context."""
    ids, texts = list(SCRIPTS), {name: [t for t, _, _ in sentences(script.text)] for name, script in SCRIPTS.items()}
    asked = pl.DataFrame({"question_id": ids, "text": [SCRIPTS[name].question for name in ids]})
    asked = asked.with_columns(answer=pl.Series([SCRIPTS[name].answer for name in ids]), type=pl.lit(None, pl.String))
    gold = pl.DataFrame({"question_id": ids, "n": [0] * 6, "passage_id": [f"{name}:2" for name in ids]})
    gold = gold.with_columns(text=pl.Series([texts[name][2] for name in ids]))
    rows = [(name, n, f"{name}:{n}", f"{text}\n", 90) for name in ids for n, text in enumerate(texts[name])]
    sent = pl.DataFrame(rows, schema=["question_id", "place", "passage_id", "text", "tokens"], orient="row")
    answers = {name: SCRIPTS[name].answer for name in ids}
    return Set("scripts", {"graph_zsum": Traces(asked, gold, sent, _recalls(ids), answers)}, 512)


def _recalls(ids: list[str]) -> pl.DataFrame:
    """Figures: full recall at 512 tokens for each question."""
    columns = {"question_id": ids, "metric": ["evidence_recall@512"] * len(ids), "value": [1.0] * len(ids)}
    return pl.DataFrame(columns).with_columns(hop=pl.lit(None, pl.String))


def _many(count: int) -> Set:
    """So many questions under twelve systems, whose contexts have a few words in common."""
    ids = [f"q{n}" for n in range(count)]
    nothing = pl.lit(None, pl.String)
    asked = pl.DataFrame({"question_id": ids, "text": [f"Who bought mill {n}?" for n in range(count)]})
    gold = pl.DataFrame({"question_id": ids, "n": [0] * count, "passage_id": ids})
    texts = [f"Alder Ltd bought mill {n} in 2021, and the neighbour's in the year after. " * 12 for n in range(count)]
    gold = gold.with_columns(text=pl.Series(texts))
    asked = asked.with_columns(answer=pl.lit("Alder Ltd"), type=nothing)
    sent = pl.DataFrame({"question_id": ids, "place": [0] * count, "passage_id": ids, "text": texts})
    traces = Traces(asked, gold, sent.with_columns(tokens=pl.lit(90)), _recalls(ids), {"q0": "x"})
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
    sized(driver, 1400, HEIGHT)
    return driver


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen_has_the_finding_and_the_leaderboard(opened, width):
    sized(opened, width, HEIGHT)
    said = opened.find_element("id", "finding").text
    assert said.startswith("harbour: graph_zsum holds more evidence than the best baseline (")
    assert said.endswith(", n = 60.")
    assert "LIMIT=60" in opened.find_element("class name", "limit").text
    names = [head.text for head in opened.find_elements("css selector", "#leaderboard tbody th")]
    assert names == ["graph_zsum", "beam", "hipporag2:controlled", "title_zsum"]
    assert inside(opened, "#leaderboard tbody tr:nth-child(4)")["bottom"] <= HEIGHT
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

    where = ("css selector", "h2 ~ .asking:not(#browser .asking) select")
    choice = WebDriverWait(opened, 60).until(lambda page: page.find_elements(*where))[0]  # a busy machine draws late
    drawn = [one for one in opened.find_elements("css selector", ".switched figure") if one.is_displayed()]
    names = [option.text for option in choice.find_elements("tag name", "option")]
    assert len(names) == 3
    choice.find_elements("tag name", "option")[2].click()
    after = [one for one in opened.find_elements("css selector", ".switched figure") if one.is_displayed()]
    assert len(drawn) == len(after)
    assert drawn[0] != after[0]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off_whatever_is_unfolded(opened, width):
    sized(opened, width, HEIGHT)
    unfold(opened)
    assert cut_off(opened) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_text_in_plots_can_be_read_at_every_width(opened, width):
    sized(opened, width, HEIGHT)
    assert smallest_text(opened)[0] >= READABLE
    unfold(opened)
    assert smallest_text(opened)[0] >= READABLE


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


def test_ten_thousand_questions_fit_a_page_that_says_how_many_of_them_it_shows(driver, tmp_path):
    made, path = browsed([_many(10_000)]), tmp_path / "report.html"
    shown = [one["id"] for one in made["sets"][0]["questions"]]
    assert 2000 < len(shown) < 10_000
    load(driver, _written(path, made))
    assert path.stat().st_size < 20_000_000
    said = driver.find_element("css selector", "#questions ~ p.note").text
    assert said.startswith(f"harbour: {len(shown)} of 10000 questions, contexts within 512 tokens, drawn by hash")
    matches = driver.find_element("id", "matches")
    assert matches.text == f"{len(shown)} of 10000 questions, the first 2,000 listed"
    driver.find_element("id", "search").send_keys(shown[-1])
    assert matches.text == "1 of 10000 questions"
    assert f"mill {shown[-1][1:]} in 2021" in driver.find_element("css selector", "#leftside .context").text


def test_hostile_words_are_words(opened):
    assert "<img src=x" in opened.find_element("id", "asked").text
    assert "<img src=x" in opened.find_element("tag name", "h1").text
    assert opened.execute_script("return window.hacked") is None
    assert [entry for entry in opened.get_log("browser") if entry["level"] == "SEVERE"] == []


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
        driver.save_screenshot(str(tmp_path / f"{name}.png"))
