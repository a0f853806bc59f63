"""Entropic Context Shaping: which text makes the answer more likely, and by how much?"""

import secateur

QUESTION, ANSWER = "In which city is the mill that Alder Ltd bought?", "Leeds"
TEXTS = [
    "The Finch mill, which Alder Ltd bought, has stood in Leeds since 1890.",
    "Alder Ltd makes paper and board.",
    "It rains a lot there.",
]

with_answer = secateur.score(QUESTION, ANSWER, TEXTS)
print(with_answer.select("rank", "candidate", "signed"))  # nats that the text adds to the answer's log-probability
without = secateur.score(QUESTION, None, TEXTS)  # by query likelihood
print([TEXTS[n] for n in without["candidate"]])
