#!/usr/bin/env python3
"""The same templates rendered by Jinja itself and by ours, set up as chat templates expect it.

    oracle_test.py RENDER TEMPLATES CASE

RENDER takes JSON lines (render.cpp). Where Jinja gives a text ours must give the same, unless the
construct is one of those that are refused by name; where Jinja gives an error, so must ours. Exits
with 77 when there is no Jinja here.
"""
import json
import pathlib
import random
import subprocess
import sys
import warnings

try:
    import jinja2
    from jinja2.ext import Extension
    from jinja2 import nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    print("skipped: python3-jinja2 is not installed")
    sys.exit(77)


class Generation(Extension):
    """{% generation %}, which writes what is inside of it, and whose names are its own."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_written"), [], [], body).set_lineno(line)

    def _written(self, caller):
        return caller()


def refuse(text):
    raise jinja2.exceptions.TemplateError(text)


warnings.simplefilter("ignore")  # Python's, of the code that Jinja makes of a template
environment = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
environment.filters["tojson"] = lambda value, ensure_ascii=False, indent=None, separators=None: (
    json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators))
environment.globals["raise_exception"] = refuse
environment.globals["strftime_now"] = lambda form: __import__("datetime").datetime(2024, 7, 26).strftime(form)


def by_jinja(source, variables):
    try:
        return environment.from_string(source).render(**variables)
    except Exception as error:  # whatever it is: an error is an error
        return error


# What Jinja has and ours refuses, by a word of the refusal. A slice of what has no parts is nothing to
# Jinja where it calculates ahead, and an error where it does not: always an error to ours.
BY_NAME = ("not supported", "beyond 64 bits", "cannot be printed", "inside each other", "cannot be a key", "has no parts")


def compare(render, cases, most_refused, most_lenient):
    """Cases are pairs of source and variables; at most these shares may be refused by name, and be
    rendered although Jinja finds an error."""
    lines = "".join(json.dumps({"template": source, "variables": variables}) + "\n"
                    for source, variables in cases)
    answers = subprocess.run([render], input=lines, capture_output=True, text=True, check=True).stdout
    answers = [json.loads(line) for line in answers.split("\n") if line]
    assert len(answers) == len(cases), "an answer for every template"
    wrong = refused = texts = lenient = 0
    for (source, variables), ours in zip(cases, answers):
        theirs = by_jinja(source, variables)
        if isinstance(theirs, Exception):
            fits = "error" in ours
            # Jinja calculates constants ahead, and so finds errors in what is never evaluated.
            if not fits and lenient < most_lenient * len(cases):
                fits = True
                lenient += 1
        elif "error" in ours:
            fits = any(word in ours["error"] for word in BY_NAME)
            refused += fits
        else:
            fits = ours["text"] == theirs
            texts += fits
        if not fits:
            wrong += 1
            if wrong <= 12:
                print(f"--- {source!r}\n    with {json.dumps(variables)[:300]}\n    Jinja {theirs!r}\n    ours  {ours}")
    print(f"{len(cases)} templates: {texts} texts alike, {refused} refused by name, {lenient} lenient, {wrong} wrong")
    assert texts > 0 and wrong == 0 and refused <= most_refused * len(cases)


WORDS = ["hello", "Ünïcode ß", " spaced  ", "a\nb\n", "", "<|im_end|>", "'quoted' \"both\"", "日本 語", "x=1; {{ y }}",
         "tab\there", "</think>after", "<think>\nA thought\n</think>\n\nAnswer", "\u00a0nbsp\u2003", "MiXed Case-word"]


def conversation(rng):
    turns = []
    if rng.random() < 0.4:
        turns.append({"role": "system", "content": rng.choice(WORDS)})
    for _ in range(rng.randint(1, 4)):
        turns.append({"role": "user", "content": " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 3)))})
        turns.append({"role": "assistant", "content": rng.choice(WORDS)})
    if rng.random() < 0.3:
        turns.pop()
    return turns


TOOL = {"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "items": ["é", None, 1.5]}, "days": {"type": "integer"}},
    "required": []}}}


def variables(rng):
    return {"messages": conversation(rng), "add_generation_prompt": rng.random() < 0.5, "bos_token": "<s>",
            "eos_token": "</s>", "tools": rng.choice([None, [TOOL], [TOOL, TOOL]]), "n": rng.randint(-3, 9),
            "word": rng.choice(WORDS), "flag": rng.random() < 0.5, "nothing": None, "real": rng.choice([0.5, 2.0, -1e-7, 1e22]),
            "some": [rng.randint(0, 5) for _ in range(rng.randint(0, 4))], "map": {"b": 1, "a": [1, "two"], "key": {"deep": "x"}}}


def styles(rng, folder):
    sources = [path.read_text() for path in sorted(pathlib.Path(folder).glob("*.jinja"))]
    assert len(sources) >= 7
    return [(source, variables(rng)) for source in sources for _ in range(60)]


def constructs(rng, folder):
    sources = (pathlib.Path(folder) / "constructs.txt").read_text().split("\n")
    sources = [source.replace("⏎", "\n") for source in sources if source and not source.startswith("# ")]
    assert len(sources) > 150
    return [(source, variables(rng)) for source in sources for _ in range(6)]


def white_space(rng, _):
    """Tags of every kind with and without signs, white space of every kind between them."""
    space = ["", " ", "\n", "\t", "\n\n", "  \n  ", "\r\n", "\r", "a", "b \n", "\u00a0", "\n a"]
    inner = ["", " ", "\n", " \n "]

    def tag(kind):
        first = rng.choice(["", "", "-", "+"])
        last = rng.choice(["", "", "-", "+"])
        gap = rng.choice(inner)
        if kind == "print":
            return "{{" + first + gap + rng.choice(["'x'", "n", "word", "{'a': {}}['a']"]) + " " + last.replace("+", "") + "}}"
        if kind == "comment":
            return "{#" + first + rng.choice([" note ", "", "{{ x }}", "\n"]) + last + "#}"
        if kind == "raw":
            return ("{%" + first + " raw " + rng.choice(["", "-"]) + "%}" + rng.choice(space) + "{{ y }}" + rng.choice(space)
                    + "{%" + rng.choice(["", "-", "+"]) + " endraw " + last + "%}")
        if kind == "set":
            return "{%" + first + gap + "set a = 1" + gap + " " + last + "%}"
        body = many(2)
        return ("{%" + first + " if " + rng.choice(["n > 2", "true", "flag"]) + " " + last + "%}" + body + "{%"
                + rng.choice(["", "-", "+"]) + " endif " + rng.choice(["", "-", "+"]) + "%}")

    def many(most):
        return "".join(rng.choice(space) + tag(rng.choice(["print", "comment", "raw", "set", "if"])) + rng.choice(space)
                       for _ in range(rng.randint(1, most)))

    return [(many(4), variables(rng)) for _ in range(6000)]


def expressions(rng, _):
    """Expressions made at random: most mean something, some are errors in both."""
    def atom():
        return rng.choice(["n", "word", "flag", "nothing", "real", "some", "map", "messages", "missing", "3", "0", "-2", "1.5", "'ab'",
                           "' c '", "''", "true", "none", "[1, 'a', 2.0]", "[]", "{'k': 1, 2: none}", "(1, 2)", "messages[0].content",
                           "messages[-1]['role']", "map.key.deep", "map['a'][1]", "range(4)", "1e3", "some|length"])

    def one(depth):
        if depth == 0 or rng.random() < 0.2:
            return atom()
        a, b, c = (lambda: one(depth - 1)), (lambda: one(depth - 1)), (lambda: one(depth - 1))
        return rng.choice([
            lambda: f"{a()} + {b()}", lambda: f"({a()} - {b()})", lambda: f"{a()} * {b()}", lambda: f"{a()} / {b()}",
            lambda: f"{a()} // {b()}", lambda: f"{a()} % {b()}", lambda: f"{a()} ~ {b()}", lambda: f"({a()}) ** 2",
            lambda: f"{a()} == {b()}", lambda: f"{a()} != {b()}", lambda: f"{a()} < {b()}", lambda: f"{a()} >= {b()} > {c()}",
            lambda: f"{a()} in {b()}", lambda: f"{a()} not in {b()}", lambda: f"not {a()}", lambda: f"({a()} and {b()})",
            lambda: f"({a()} or {b()})", lambda: f"({a()} if {b()} else {c()})", lambda: f"-{a()}", lambda: f"({a()})[{b()}]",
            lambda: f"({a()})[{rng.randint(-3, 3)}:{rng.randint(-3, 5)}]", lambda: f"({a()})[::{rng.choice([-2, -1, 1, 2])}]",
            lambda: f"({a()})[{rng.randint(-9, 9)}:{rng.randint(-9, 9)}:{rng.choice([-3, -1, 2, 9])}]",
            lambda: f"({a()})|{rng.choice(['trim', 'upper', 'lower', 'title', 'capitalize', 'string', 'length', 'first', 'last', 'list', 'join', 'tojson', 'int', 'float', 'sort|list', 'unique|list', 'reverse|list', 'count', 'safe', 'default(7)', 'd(7, true)'])}",
            lambda: f"({a()})|replace({b()}, 'z')", lambda: f"({a()})|join({b()})", lambda: f"({a()})|map('string')|list",
            lambda: f"({a()})|select('{rng.choice(['string', 'number', 'odd', 'defined', 'none'])}')|list",
            lambda: f"({a()}) is {rng.choice(['defined', 'undefined', 'none', 'string', 'mapping', 'iterable', 'sequence', 'number', 'integer', 'float', 'boolean', 'true', 'false', 'odd', 'even', 'upper', 'lower', 'callable'])}",
            lambda: f"({a()}) is not {rng.choice(['string', 'none', 'sequence'])}", lambda: f"({a()}) is {rng.choice(['eq', 'ne', 'lt', 'ge', 'in', 'divisibleby'])}({b()})",
            lambda: f"({a()}).{rng.choice(['strip', 'upper', 'lower', 'title', 'capitalize', 'split', 'splitlines', 'items', 'keys', 'lstrip', 'rstrip'])}()",
            lambda: f"({a()}).{rng.choice(['split', 'startswith', 'endswith', 'find', 'rfind', 'strip', 'removeprefix', 'get', 'rsplit'])}({b()})",
        ])()

    return [("{{ " + one(rng.randint(1, 3)) + " }}", variables(rng)) for _ in range(20000)]


def main():
    render, folder, case = sys.argv[1:]
    kinds = {"styles": (styles, 0, 0), "constructs": (constructs, 0.01, 0), "white_space": (white_space, 0, 0),
             "expressions": (expressions, 0.1, 0.0005)}
    make, most_refused, most_lenient = kinds[case]
    compare(render, make(random.Random(20240726), folder), most_refused, most_lenient)


main()
