"""Words by which a full stop that ends a sentence is told from one that does not.

Words of several languages stand together: a text does not say its language. Case counts.
"""

from functools import cache

__all__ = ["listed"]

LISTS = """
[titles]
# before a name; never end a sentence
Mr Mrs Ms Mx Messrs Dr Drs Prof Profs Gen Col Lt Sgt Capt Maj Cpl Cmdr Cdr Adm Brig Pvt Gov Sen Rep Reps Sens Rev Revd Hon Pres
Supt Insp Amb Fr Sr-Dr Ven Msgr Mgr Geo Wm Chas Thos Jas Jos Lt.-Col Maj.-Gen vs cf viz
Hr Hrn Frl Dipl.-Ing med phil rer jur habil h.c Fa Mme Mmes Mlle Mlles MM Me Sra Srta Sres Dra Dres Dña Excmo Fco Mª
проф акад д-р г-н г-жа им κ κκ κα Δρ Καθ डॉ प्रो पं श्री सुश्री कु कि د أ م ج

[always]
# before more words; end a sentence only before a word that begins one
St Mt Ft Ste approx Fig Figs Eq Eqs eq fig al ca e.g eg i.e ie ibid esp incl resp Univ Dept Ave Blvd Rd sec v
bzw z.B z u.a u d.h d vgl Abb Bd Str geb gest evtl ggf inkl bspw sog v n Chr Hl Ud Uds pág págs núm núms cap Av EE
p.ex p ex av env éd bd rue p.ej ej a ул пр пл пос дер обл р оз см рис стр тыс млн млрд т ср Mio Mrd
π.χ π Αγ αρ οδ σελ βλ δηλ Λεωφ लि पृ ई क्र सं रु पू ग्रा कि.ग्रा ص ق

[numbered]
# before a number
No Nos no nos Nr nº n.º N.º núm num art Art Abs pp p S s ch Ch Sec sect Vol vol Op op Pt pt par § Bd fig Fig Rep Ps Ex siècle
№ кв рис гл ст стр αρ σελ पृ सं

[counted]
# after a number of one or two digits and a full stop, as in 3. Mai
Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jan Feb Mär Apr Jun Jul Aug Sep Sept Okt Nov
Dez Jahrhundert Jahrhunderts Jh Weltkrieg Weltkriegs Auflage Klasse Platz Stock Kapitel Mal Tag Woche Jahrestag Geburtstag

[dated]
# months, before a day or a year
Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Okt Dez Mär janv févr avr juil déc ene abr ago dic

[years]
# after a number they may end a sentence, else they stand before a name
г в гг вв

[ends]
# may end a sentence, and do before a word that begins one
Inc Co Corp Ltd Bros Jr Sr Esq Assn Ph.D PhD M.D B.A M.A U.S U.K U.N E.U D.C B.C A.D L.A N.Y S.A S.S H.M.S Mass Mich Calif Conn
Penn Wash Minn Wis Ala Ariz Fla Ga Va Md Mo Tenn Tex Okla Ore Vt sq
μ.μ π.μ κ.ά κ.λπ κ.τ.λ κτλ т.д т.п др пр и.о н.э м м.р ق.م هـ ت

[measures]
# after a number they end a sentence before a capital
ft lb lbs oz min hr hrs sec km kg χλμ мин км руб м

[hours]
# end a sentence before a capital, unless it is of the time
a.m p.m A.M P.M am pm

[of_hours]
Monday Tuesday Wednesday Thursday Friday Saturday Sunday EST EDT CST CDT MST PST PDT GMT UTC BST CET Eastern Pacific Central ET PT

[lettered]
# before a single letter that is no initial
vitamin Vitamin plan Plan grade Grade an a the type Type class Class section Section part Part hepatitis Hepatitis option Option
team Team group Group point Point Figure Table Appendix Exhibit level Level Step step chapter Chapter case Case

[firm]
Inc Corp Co News Mail Finance Sports Japan Music Games Answers

[said]
# who says a quotation that has ended: after it the sentence goes on
उसने उसकी उन्होंने ने पूछा कहा सأل سألته سأله سألت قال قالت قالها صرخ صاحت هتف 그가 누나가 그녀가 그는 그녀는 물었다 말했다
she he they cried said asked

[starts]
# begin a sentence
A An The This That These Those There Here He She It We You They I His Her Its Our Your Their My Who What When Where Why How Which
In On At By For From With Without After Before During Since Until While As If Although Though Because When Once Then Thus Hence
However Moreover Also But And Or So Yet Nor Not No Yes Some Many Most Both Each Every All Several Few One Two Three Such Other Another
Only Even Just Later Today Nobody Nothing Everyone Everything Is Are Was Were Do Does Did Has Have Had Can Could Will Would Should Otherwise
Meanwhile Instead Still Perhaps Maybe Finally Next Soon Afterwards According Among Despite Like Under Over Between Through Let Please
People Whether Whoever Whatever Unlike Unless Given Much More Less Early Late Recently Currently Originally Born Whose That's It's
He's She's They're There's Never Always Often Sometimes Usually Again Indeed Neither Either Where's
Der Die Das Den Dem Des Ein Eine Einer Er Sie Es Wir Ihr Ich Im In Am An Auf Aus Bei Mit Nach Seit Von Vor Zu Zum Zur Auch Aber Und
Oder Doch Dann Dort Danach Heute Gab Niemand Kein Keine Dieser Diese Dieses Man Als Wenn Weil Später Alles Ältere Wer Was Wo Wann
Le La Les Un Une Des Il Elle Ils Elles On Ce Cette Ces Cet En Au Aux Dans Sur Pour Par Avec Sans Mais Et Ou Donc Son Sa Ses Leur
Leurs Nous Vous Je Tu Qui Que Quand Où Personne Rien Aujourd'hui Après Avant Depuis
El Los Las Una Unos Él Ella Ellos Ellas Su Sus Este Esta Estos Estas Eso En De Del Al Con Sin Por Para Pero Y O Se No Sí Hoy Ayer
Nadie Nada Quién Qué Cuándo Dónde Después Antes Cuando Es Era Fue Hay Lo
Он Она Оно Они Мы Вы Я Его Её Их Это Этот Эта Эти В На По С Со Из От До За При Но И А Или Там Тут Здесь Где Когда Кто Что Как Все Всё
Никто Ничего Потом Затем Теперь Сейчас Сегодня После Многое Зато
Ο Η Το Οι Τα Τον Την Του Της Των Ένας Μια Ένα Αυτός Αυτή Αυτό Στο Στη Στην Στον Σε Με Από Για Και Αλλά Δεν Κανείς Τι Ποιος Πού Πότε Έχει
Είναι Ήταν Όλοι
"""


@cache
def listed(section: str) -> frozenset[str]:
    """The words of a list."""
    lists = dict(part.split("]\n", 1) for part in LISTS.split("\n[")[1:])
    return frozenset(word for line in lists[section].splitlines() if not line.startswith("#") for word in line.split())
