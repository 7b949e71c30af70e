"""Ask three questions of the demonstration's clinic, meet a refusal, and take what fits.

    noren serve --demo
    NOREN_SERVER=http://127.0.0.1:8080 NOREN_TOKEN=nrn_... python three_questions.py
"""

from __future__ import annotations

import sys

from noren_client import Amount, Answer, BudgetRefused, Client, Margin, count, histogram, mean

# The groups and the bounds are public: they do not come from the table.
SEXES = ["female", "male"]


def show(title: str, answer: Answer, question: int = 0) -> None:
    """Print the rows with the half widths of their noise."""
    print(f"{title} (cost: {answer.cost}, left: {answer.left})")
    for row in answer.records(question):
        names = [value for name, value in row.items() if name not in ("value", "low", "high", "noise", "sampling", "records")]
        print(" ", *names, f"{row['value']:.6g}", f"within {row['noise']:.3g}")


def main() -> int:
    client = Client()
    book = client.books()[0]
    print(f"book {book.name} of {book.table_name}, unit {book.unit}, left: {book.available}")

    # The margin comes first, and the price follows. A quote reads no data and is free.
    older = count(where="age >= 65")
    quote = client.quote(book, older, margin=Margin(within=80))
    print(f"a margin of 80 costs {quote.cost}")
    rehearsal = client.rehearse(quote)
    print(f"on synthetic rows the noise was within the margin in {rehearsal.within} of {rehearsal.runs} runs")
    show("visits of people of 65 or over", client.answer(quote))

    by_sex = mean("cost_yen", by="sex", keys=SEXES, bounds=(0, 50000))
    ages = histogram("age", bins=[0, 18, 40, 65, 110])
    both = client.ask(book, [by_sex, ages], pay=[Amount.of(epsilon="0.06"), Amount.of(epsilon="0.03")])
    show("mean cost by sex", both, 0)
    show("visits by age", both, 1)

    # A margin that the rest does not cover is refused: nothing is read and nothing charged.
    try:
        client.ask(book, older, margin=Margin(within=0.5), spend=True)
        print("the refusal did not come", file=sys.stderr)
        return 1
    except BudgetRefused as refused:
        print(f"refused: asked {refused.asked}, left {refused.left}, short {refused.short}")
        for fit in refused.fits:
            print(f"  would fit: {fit.change} (costs {fit.cost})")
    women = client.quote(book, count(where="sex = 'female'"), margin=Margin(within=100))
    show("visits of women, with a wider margin", client.answer(women))

    if not both.checked.trusted:
        print("note: set NOREN_KEY_ID to the id of the server's key, from its operator")
    return 0


if __name__ == "__main__":
    sys.exit(main())
