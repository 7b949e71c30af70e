"""An analyst's hour in Python with pandas, against a demonstration with a book called visits.

    NOREN_SERVER=http://127.0.0.1:8080 NOREN_TOKEN_FILE=token NOREN_KEY_ID=ed25519:... python -m tests.hour

From nothing but the token to a mean by group as a DataFrame: within the stated margin for
every group, for a quarter of what is left at most. Each line that is typed is one step.
"""

from __future__ import annotations

import sys
import time
from typing import Any

TYPED = """\
from noren_client import Client, Margin, mean
client = Client()
question = mean("cost_yen", by="sex", keys=["female", "male"], bounds=(0, 50000))
quote = client.quote("visits", question, margin=Margin(within=4500))
print(quote)
answer = client.answer(quote)
table = answer.frame()
print(answer.data())
""".splitlines()


def main() -> int:
    import pandas as pd

    began, names = time.monotonic(), dict[str, Any]()
    for line in TYPED:
        print(">>>", line)
        exec(compile(line, "typed", "exec"), names)
    print(f"{len(TYPED)} steps, {time.monotonic() - began:.1f} s")
    answer, table = names["answer"], names["table"]
    paid, left = float(answer.cost.epsilon), float(names["quote"].left.epsilon)
    wrong = []
    if not isinstance(table, pd.DataFrame) or list(table["sex"]) != ["female", "male"]:
        wrong.append(f"the answer is not a DataFrame of two groups: {table!r}")
    elif not (table["noise"].between(0, 4500, inclusive="right")).all():
        wrong.append(f"a group misses the margin: {list(table['noise'])}")
    if paid > left / 4:
        wrong.append(f"the answer cost {paid} of {left}")
    if not answer.checked.trusted:
        wrong.append("the certificate is not checked with the key of the operator")
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
