#!/usr/bin/env python3
"""Records which statements PostgreSQL 15's grammar takes, and its errors for the others. Nothing is ever run: a text
with a mistake at its end is parsed as a whole first.

Usage: record.py CONNECTION

Reads the scripts below `tests`, `kinds.sql` and `mistakes.sql`. Changes some of the statements at random, always in the
same way. Writes `accepted.sql` and `refused.sql`.
"""

import pathlib
import random
import re
import sys

import psycopg

HERE = pathlib.Path(__file__).parent
TESTS = HERE.parents[3] / "tests"
SEPARATOR = "\n----\n"
TAIL = "\n;\n@@@"
# How many statements of each origin are kept.
SCRIPTED, CHANGED_ACCEPTED, CHANGED_REFUSED = 1200, 250, 700
# What the tree cannot say.
UNSAID = re.compile(
    r"\bxml|foreign data wrapper|\bserver\b|user mapping|foreign schema|security label|tablespace \w+ (owner|location)"
    r"|(create|drop|alter)\s+(tablespace|conversion|transform|access method|foreign table|(or replace )?(trusted )?"
    r"(procedural )?language)|default conversion|is (not )?document",
    re.IGNORECASE,
)
TOKEN = re.compile(
    r"""\s+|--[^\n]*|\$(\w*)\$.*?\$\1\$|[eEbBxX]?'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|\d+(?:\.\d+)?|\w+|::|:=|=>"""
    r"""|[-+*/<>=~!@#%^&|`?]+|.""",
    re.DOTALL,
)


def error(connection, sql):
    """None if the grammar takes a text, or else the fields of the error."""
    for tail in (TAIL, ""):
        try:
            connection.execute((sql + tail).encode(), prepare=False)
        except psycopg.Error as failure:
            fields = failure.diag
            position = int(fields.statement_position or 0)
            if tail and position >= len(sql) + 4 and fields.sqlstate == "42601":
                return None
            # The tail got into the error. Without it the text is just as wrong.
            if tail and ("@@@" in fields.message_primary or position == len(sql) + 2):
                continue
            return fields.sqlstate, position, fields.message_primary, fields.message_hint, fields.message_detail
        break
    raise AssertionError(f"no error: {sql}")


def pieces(text):
    """The statements of a script, as well as lines tell them apart."""
    found, piece, data = [], [], False
    for line in text.splitlines():
        if data:
            data = line != "\\."
        elif line.startswith("\\"):
            piece = []
        elif piece or (line.strip() and not line.startswith("--")):
            piece.append(line)
            code = line.split(" --")[0].rstrip()
            whole = "\n".join(piece)
            if code.endswith(";") and whole.count("$$") % 2 == 0 and whole.count("'") % 2 == 0:
                found.append(whole.rstrip().removesuffix(";"))
                data = bool(re.match(r"copy .*from stdin", whole, re.IGNORECASE | re.DOTALL))
                piece = []
    return [piece for piece in found if "\\" not in piece and len(piece) < 400]


def lines(name):
    text = (HERE / name).read_text().splitlines()
    return [line for line in text if line and not line.startswith("--")]


def change(statement, dice):
    """The statement with a token left out, doubled or swapped with the next one."""
    tokens = [match.group() for match in TOKEN.finditer(statement)]
    words = [at for at, token in enumerate(tokens) if not token.isspace()]
    if len(words) < 3:
        return statement
    at = dice.randrange(len(words) - 1)
    here, behind = words[at], words[at + 1]
    match dice.randrange(3):
        case 0:
            tokens[here] = ""
        case 1:
            tokens[here] += " " + tokens[here]
        case _:
            tokens[here], tokens[behind] = tokens[behind], tokens[here]
    return "".join(tokens)


def main():
    dice = random.Random(15)
    scripted = {}
    for path in sorted(TESTS.rglob("*.sql")):
        if path.parent.name != "abuse":
            for piece in pieces(path.read_text()):
                # Numbers and strings aside, equal statements count once.
                scripted.setdefault(re.sub(r"\d+|'[^']*'", "", piece), piece)
    scripted = [piece for piece in scripted.values() if not UNSAID.search(piece)]
    dice.shuffle(scripted)
    kinds = lines("kinds.sql")
    accepted, refused = [], {}
    with psycopg.connect(sys.argv[1], autocommit=True) as connection:
        for statement in kinds:
            assert error(connection, statement) is None, statement
        for piece in scripted:
            fields = error(connection, piece)
            if fields is not None:
                if "\n" not in fields[2]:
                    refused[piece] = fields
            elif len(accepted) < SCRIPTED:
                accepted.append(piece)
        for mistake in lines("mistakes.sql"):
            fields = error(connection, mistake)
            if fields is None:
                print(f"no mistake: {mistake}")
            else:
                refused[mistake] = fields
        sources = [statement for statement in kinds + accepted if len(statement) < 250]
        taken, wrong = 0, 0
        while taken < CHANGED_ACCEPTED or wrong < CHANGED_REFUSED:
            changed = change(dice.choice(sources), dice)
            if changed in refused or changed in accepted or UNSAID.search(changed) or not changed.strip():
                continue
            fields = error(connection, changed)
            if fields is None and re.search(r"begin\s+atomic|\brule\b", changed, re.IGNORECASE):
                # The tail may have become a part of an unfinished body.
                continue
            if fields is None and taken < CHANGED_ACCEPTED:
                accepted.append(changed)
                taken += 1
            elif fields is not None and wrong < CHANGED_REFUSED and "\n" not in fields[2]:
                refused[changed] = fields
                wrong += 1
    (HERE / "accepted.sql").write_text(SEPARATOR.join(accepted) + SEPARATOR)
    with (HERE / "refused.sql").open("w") as file:
        for statement, (state, position, message, hint, detail) in refused.items():
            notes = [f"-- {state} {position} {message}"]
            notes += [f"-- hint: {hint}"] if hint else []
            notes += [f"-- detail: {detail}"] if detail else []
            file.write("\n".join([*notes, statement]) + SEPARATOR)
    print(f"{len(kinds)} kinds, {len(accepted)} accepted, {len(refused)} refused")


if __name__ == "__main__":
    main()
