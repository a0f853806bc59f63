"""Write histories.json: invented conversations in LongMemEval's form, with each of its traps. No word is upstream's.

python data/toy/longmemeval_synthetic/make.py
"""

import json
from datetime import datetime, timedelta
from pathlib import Path

# A line is a turn: u user, a assistant, * marked as evidence.
FILLERS = {
    "ultrachat_400101": """
        u Can you explain how sourdough starter works?
        a Wild yeast and bacteria live on flour and water; feeding them daily keeps them active.
        u Mine smells like nail varnish. Is it dead?
        a It is hungry. Feed it twice a day and the smell goes.
        u And how warm should the kitchen be?
        a About 24 degrees is comfortable for it.""",
    "ultrachat_400102": """
        u Give me a short history of the printing press.
        a Movable type spread through Europe after Gutenberg's press of about 1450.
        u Was there anything like it before?
        a Yes, movable type was used in China and Korea centuries earlier.""",
    "ultrachat_400103": """
        u What is the difference between a virus and a bacterium?
        a A bacterium is a living cell; a virus needs a cell to multiply in.
        u So antibiotics do nothing against a cold?
        a Right, colds are viral.
        u Thanks, that settles an argument at home.
        a Glad to help.""",
    "ultrachat_400104": """
        u Write a haiku about a lighthouse in fog.
        a Grey swallows the beam / a horn counts the hidden rocks / the keeper drinks tea
        u Lovely. One about a ferry, please.
        a Ropes slap the wet quay / someone waves at nobody / the ramp lifts its chin""",
    "sharegpt_qWzT01_0": """
        a Of course. Here is the rest of the function, with the loop closed.
        u It still throws an index error on the last row.
        a Then the range runs one past the end; use len(rows) - 1.
        u That did it.""",
    "sharegpt_qWzT02_0": """
        u Convert this list of temperatures to Fahrenheit: 10, 15, 20.
        a 50, 59 and 68.
        u
        a Your last message was empty. Shall I go on?
        u Yes, add 25.
        a 77.""",
    "sharegpt_qWzT03_1": """
        u How do I centre a box on a page with CSS?
        a Make the parent a grid and set place-items to center.
        u Does that work in old browsers?
        a In every browser since 2018 or so.""",
    "sharegpt_qWzT04_0": """
        a Here is the summary you asked for: the report recommends two more sites.""",
    "5e81c0aa_1": "",
    "5e81c0aa_2": """
        u I need a packing list for a weekend of walking in the hills.
        a Waterproofs, a map, spare socks, a torch, and more food than you think.
        u What about shoes, boots or trainers?
        a Boots if the ground is wet.""",
    "77d10f3c_1": """
        u Suggest three board games for four adults.
        a Try a tile-laying game, a word game and a cooperative one.
        u We have little patience for long rules.
        a Then the word game first.""",
}
ORDER = list(FILLERS)

# id, type, question, answer, date of the question, evidence sessions: (id, date, turns)
QUESTIONS = [
    ("a1f0c001", "single-session-user", "Which instrument did I start to learn?", "the viola", "2023/05/30 18:10", [
        ("answer_a1f0c001", "2023/05/20 02:21", """
            u I have a free evening and no idea what to do with it.
            a You could practise something new.
            u* Fair point, I have started viola lessons with a teacher in Harbour Street.
            a How is it going?
            u My neighbours are patient people."""),
    ]),
    ("a1f0c002", "single-session-user", "How many chickens do I keep?", 7, "2023/06/02 09:00", [
        ("answer_a1f0c002", "2023/05/11 08:40", """
            u* I keep seven chickens and one of them lays eggs without a shell. Why?
            a Often a lack of calcium; offer crushed oyster shell.
            u I will get some at the farm shop."""),
    ]),
    ("a1f0c003", "single-session-user", "What colour did I paint the hallway?", "sage green", "2023/06/11 20:05", [
        ("answer_a1f0c003", "2023/04/29 17:30", """
            u What dries faster, emulsion or eggshell?
            a Emulsion, in an hour or two.
            u* Then I should have used it: I painted the hallway sage green on Saturday and it is still sticky.
            a Open the windows and give it another day."""),
    ]),
    ("a1f0c004", "single-session-assistant", "Which soup did you suggest for my leeks?", "vichyssoise", "2023/06/15 12:00", [
        ("answer_a1f0c004", "2023/06/01 19:12", """
            u I have a kilo of leeks and four potatoes. Ideas?
            a* Make vichyssoise: leeks, potatoes, stock and cream, served cold.
            u Cold soup, in this weather?
            a It is good warm too."""),
    ]),
    ("a1f0c005", "single-session-assistant", "What was the name of the walking route you found for us?",
     "the Millrace Path", "2023/06/20 07:45", [
        ("answer_a1f0c005", "2023/06/03 10:02", """
            u* We want a walk of two hours with a baby carrier, somewhere flat by the river.
            a* The Millrace Path follows the river for seven kilometres and is level throughout.
            u Is there a cafe on the way?
            a There is one at the old lock."""),
    ]),
    ("a1f0c006", "single-session-preference", "Can you suggest something for my evening tonight?",
     "The user would prefer quiet things at home, above all jigsaw puzzles of maps, and would not like crowded places.",
     "2023/07/01 16:20", [
        ("answer_a1f0c006", "2023/06/18 21:33", """
            u* I love an evening with a jigsaw puzzle, best of all an old map, and I cannot bear crowds.
            a That sounds restful.
            u It is. Do they make any of more than 2000 pieces?
            a Yes, several publishers do."""),
    ]),
    ("a1f0c007", "single-session-preference", "What should I cook for my friends on Sunday?",
     "The user would prefer a vegetarian dish without mushrooms. They may not like suggestions that contain meat.",
     "2023/06/25 11:00", [
        # dated after the question: upstream has such histories
        ("answer_a1f0c007", "2023/06/27 13:50", """
            u* I stopped eating meat in spring, and I have never been able to stand mushrooms.
            a Noted. There is plenty left.
            u Aubergines for instance."""),
    ]),
    ("a1f0c008", "multi-session", "How many museums did I visit in June?", 3, "2023/07/03 15:15", [
        ("answer_a1f0c008_1", "2023/06/06 18:00", """
            u* I went to the tram museum today with my nephew and he wants to live there.
            a A good day out, then.
            u He knows every line by heart."""),
        ("answer_a1f0c008_2", "2023/06/24 20:40", """
            u What is a good way to remember what one has seen in an exhibition?
            a Write down one object from each room.
            u* I will try. I saw the salt museum and the museum of clocks this weekend and mix them up already.
            a Start with the clocks."""),
    ]),
    ("a1f0c009", "multi-session", "What did I spend on the bicycle altogether?", "410 euros", "2023/07/08 09:30", [
        ("answer_a1f0c009_1", "2023/05/05 12:00", """
            u* I bought a second-hand bicycle for 350 euros. What should I check first?
            a Brakes, chain and spokes.
            u The chain looks rusty."""),
        ("answer_a1f0c009_2", "2023/05/21 12:30", """
            u* The new chain and cassette for the bicycle came to 60 euros. Is that a fair price?
            a It is about usual.
            u Good, then I was not robbed."""),
        ("answer_a1f0c009_3", "2023/06/09 08:05", """
            u Which lock do you recommend for a bicycle in a city?
            a* A folding lock of a hardened steel; the one you described is fine.
            u Then I spend nothing more."""),
    ]),
    ("gpt4_a1f0c010", "temporal-reasoning", "How many days passed between my eye test and the day the glasses came?",
     "9 days. 10 days (including the last day) is also acceptable.", "2023/07/10 10:10", [
        ("answer_a1f0c010_1", "2023/06/12 14:00", """
            u* I had an eye test today and ordered glasses with a thin frame.
            a Did the test go well?
            u Better than last year."""),
        ("answer_a1f0c010_2", "2023/06/21 17:45", """
            u How do I clean anti-reflective lenses?
            a Lukewarm water, a drop of soap, a soft cloth.
            u* Thanks. My new glasses came today and they have a thumbprint already."""),
    ]),
    ("gpt4_a1f0c011", "temporal-reasoning", "Which came first, the flood in the cellar or the new boiler?",
     "The flood in the cellar", "2023/07/12 22:00", [
        ("answer_a1f0c011_1", "2023/03/02 06:30", """
            u* There are ten centimetres of water in my cellar since last night. What do I do first?
            a Switch off the electricity there, then pump.
            u The pump is under water too."""),
        ("answer_a1f0c011_2", "2023/04/18 19:00", """
            u* The plumber fitted the new boiler this morning. How do I set the timer?
            a Hold the clock button for three seconds.
            u It blinks now."""),
    ]),
    ("a1f0c012", "knowledge-update", "Where does my sister live now?", "in Ghent", "2023/07/15 13:00", [
        ("answer_a1f0c012_1", "2023/03/15 11:20", """
            u* My sister moved to Utrecht. What is worth seeing there?
            a The tower, the wharves along the canal, and the railway museum.
            u She has no car, so that suits her."""),
        ("answer_a1f0c012_2", "2023/06/29 18:55", """
            u* What does one bring as a present to Ghent? My sister has just moved there from Utrecht.
            a Something for the kitchen is always right.
            u A good pan, then."""),
    ]),
    ("a1f0c013", "knowledge-update", "What is my best time over five kilometres?", "24 minutes 40", "2023/07/18 07:00", [
        ("answer_a1f0c013_1", "2023/04/02 09:15", """
            u* I ran five kilometres in 27 minutes 10, my best so far. How do I get faster?
            a Run one session a week in intervals.
            u I hate intervals."""),
        ("answer_a1f0c013_2", "2023/07/09 10:45", """
            u* The intervals work: five kilometres in 24 minutes 40 today!
            a Congratulations.
            u My knees disagree."""),
    ]),
    ("a1f0c014", "knowledge-update", "Which day is my pottery class?", "Thursday", "2023/07/20 16:00", [
        ("answer_a1f0c014_1", "2023/05/02 20:20", """
            u What glaze is safe for mugs?
            a One that is sold as food safe and fired as hot as its maker says.
            u* I will ask in my pottery class on Tuesday."""),
        ("answer_a1f0c014_2", "2023/06/30 20:50", """
            u* My pottery class was moved to Thursday, so I miss the choir now.
            a Is there another choir?
            u Not one that would have me."""),
    ]),
    ("a1f0c001_abs", "single-session-user", "Which instrument did my brother start to learn?",
     "You did not mention this. You mentioned that you started viola lessons, but nothing about your brother.",
     "2023/05/30 18:10", [
        ("answer_a1f0c001_abs", "2023/05/20 02:21", """
            u* I have started viola lessons with a teacher in Harbour Street.
            a How is it going?
            u My neighbours are patient people."""),
    ]),
    ("a1f0c008_abs", "multi-session", "How many castles did I visit in June?",
     "The information is not enough. You mentioned museums, but no castle.", "2023/07/03 15:15", [
        ("answer_a1f0c008_abs_1", "2023/06/06 18:00", """
            u* I went to the tram museum today with my nephew and he wants to live there.
            a A good day out, then."""),
        ("answer_a1f0c008_abs_2", "2023/06/24 20:40", """
            u* I saw the salt museum and the museum of clocks this weekend and mix them up already.
            a Start with the clocks."""),
    ]),
]  # fmt: skip

HISTORY = 7  # fillers of one history
UNSORTED = {"a1f0c003", "gpt4_a1f0c011"}  # their sessions stay in another order than their dates
REPEATED = {"a1f0c002", "a1f0c009"}  # one filler comes twice, under one id


def stamp(moment: str | datetime) -> str:
    """A date as upstream writes it: 2023/05/20 (Sat) 02:21."""
    when = datetime.strptime(moment, "%Y/%m/%d %H:%M") if isinstance(moment, str) else moment
    return f"{when:%Y/%m/%d} ({('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun')[when.weekday()]}) {when:%H:%M}"


def turns(text: str, gold: bool) -> list[dict]:
    """The turns of a session; only those of evidence sessions carry `has_answer`, as upstream."""
    found = []
    for line in text.strip().splitlines():
        mark, _, said = line.strip().partition(" ")
        turn = {"role": "user" if mark[0] == "u" else "assistant", "content": said}
        found.append(turn | ({"has_answer": mark.endswith("*")} if gold else {}))
    return found


def fillers(number: int, twice: bool) -> list[tuple[str, str, str]]:
    """(id, date, turns) of the fillers of one history; every eleventh day from the first of March."""
    names = [ORDER[(number * 3 + n) % len(ORDER)] for n in range(HISTORY)] + [ORDER[number * 3 % len(ORDER)]] * twice
    start = datetime(2023, 3, 1, 9) + timedelta(hours=number)
    return [(name, stamp(start + timedelta(days=11 * n, minutes=7 * n)), FILLERS[name]) for n, name in enumerate(names)]


def record(number: int, name: str, kind: str, question: str, answer: str | int, asked: str, gold: list) -> dict:
    """One record of the file."""
    sessions = fillers(number, name in REPEATED) + [(key, stamp(date), text) for key, date, text in gold]
    if name not in UNSORTED:
        sessions.sort(key=lambda session: session[1])
    return {
        "question_id": name,
        "question_type": kind,
        "question": question,
        "answer": answer,
        "question_date": stamp(asked),
        "haystack_dates": [date for _, date, _ in sessions],
        "haystack_session_ids": [key for key, _, _ in sessions],
        "haystack_sessions": [turns(text, "answer" in key) for key, _, text in sessions],
        "answer_session_ids": [key for key, _, _ in gold],
    }


def histories() -> str:
    """The file's text, a history a line."""
    records = [record(n, *question) for n, question in enumerate(QUESTIONS)]
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in records) + "\n]\n"


if __name__ == "__main__":
    Path(__file__).with_name("histories.json").write_text(histories(), encoding="utf-8")
