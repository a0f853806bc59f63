"""The page of a run in a real browser: sizes, tables, questions with their answers."""

import polars as pl
import pytest
from tests.support.browser import HEIGHT, READABLE, WIDTHS, cut_off, inside, load, sized, smallest_text, unfold

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table

pytestmark = pytest.mark.slow

SCREENS = 8
DOCUMENTS = "toy_documents_smoke"


@pytest.fixture
def opened(driver, smoke):
    load(driver, (smoke.root / "results/experiments/smoke/report.html").as_uri())
    sized(driver, 1400, HEIGHT)
    return driver


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen_has_the_finding_and_the_leaderboard(opened, width):
    sized(opened, width, HEIGHT)
    said = opened.find_element("id", "finding").text
    assert said.startswith(f"{DOCUMENTS}: ")
    assert said.endswith("about 17 more questions are needed for a verdict.")  # there are three
    assert inside(opened, "#finding")["top"] >= 0
    assert inside(opened, "#leaderboard tbody tr")["bottom"] <= HEIGHT
    assert "graph_zsum" in opened.find_element("css selector", "#leaderboard table").text


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off_whatever_is_unfolded(opened, width):
    sized(opened, width, HEIGHT)
    assert cut_off(opened) == []
    unfold(opened)
    assert cut_off(opened) == []


def test_the_page_is_a_few_screens_long(opened):
    height = opened.execute_script("return document.documentElement.scrollHeight")
    assert HEIGHT < height <= SCREENS * HEIGHT


@pytest.mark.parametrize("width", WIDTHS)
def test_text_in_plots_can_be_read(opened, width):
    sized(opened, width, HEIGHT)
    assert smallest_text(opened)[0] >= READABLE
    unfold(opened)
    assert smallest_text(opened)[0] >= READABLE


def test_the_field_above_a_long_table_filters_it(opened):
    unfold(opened)
    from selenium.webdriver.common.keys import Keys

    fields = opened.find_elements("css selector", "details input[placeholder='filter rows']")
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


def test_answers_stand_under_the_contexts_they_were_given_to(opened, smoke):
    paths = (smoke.root / "results").glob(f"{DOCUMENTS}/{DOCUMENTS}/answers/contexts/lexical/*/zsum/**/answers.parquet")
    found = pl.concat([read_table(TABLES["answers"], path) for path in paths])
    question, answer = found.filter(pl.col("text") != "").select("question_id", "text").row(0)
    opened.find_element("id", "search").send_keys(question)
    names = [one.text for one in opened.find_elements("css selector", "#right option")]
    opened.find_element("css selector", f"#right option:nth-child({names.index('rag_zsum') + 1})").click()
    said = opened.find_element("css selector", "#rightside > p:last-child").get_attribute("textContent")
    assert said == f"Answer: {answer}"
    assert opened.find_element("css selector", "#rightside .context").text.strip()


def test_what_a_row_cost_can_be_seen_and_every_difference_behind_the_fold(opened):
    titles = [head.text for head in opened.find_elements("css selector", "h3")]
    assert titles.index("Answers under each context") < titles.index("What it costs")
    folded = opened.find_element("css selector", "#more ~ details")
    assert not folded.find_element("tag name", "table").is_displayed()
    unfold(opened)
    assert "Differences to the best plain ranking" in folded.text
    assert "not enough data" in folded.text


def test_nothing_went_wrong_in_the_page(opened):
    assert [entry for entry in opened.get_log("browser") if entry["level"] == "SEVERE"] == []
