"""Facts are true over hard data, read one way only, and take no more than their share. Judge: fact_checker.py."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence

import pytest
from fact_checker import Claim, JsonUnit, LogUnit, Unit, check, parse
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import Shortened, json_text, log_text

from caveman_wasm.facts import facts, is_identifier, is_secret
from caveman_wasm.model import Run

# Values that lie in wait: what looks like a fact, holds a separator, is a number only to some, or is not quite there.
HARD = [
    *(1, 1000, 0.5, 2**60, -0.0, 10**15, "1", "007", "1,200", "NaN", "-Infinity", "1e9999", "1e3"),
    *("", None, True, False, "true", "null", "absent", [], {}, [1, 2], {"b": 2}, "[]"),
    *("a;b", "paid×3", "1..2", "a, all 3 present", "… 5 rows elided: all status=ok …", "all status=ok", "sum", '"q"'),
    *("2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00", "ord-17", "-5", "\ud800", "�", "é", "a\x1bb\x00"),
]
SPELLED = ["1e3", "1000", "1E+2", "NaN", "Infinity", "-Infinity", "1e999", "12345678901234567890", "1.50", "100"]
NAMES = [
    *("id", "status", "amount", "a.b", "a", "name", "api_token", "all", "sum", "failures", "x;y", "value", "key", ""),
    *("error", "level", "time", "n..m", "a[0]", "two words", "_caveman_elided", "_caveman_ref", "session"),
]

Column = Callable[[random.Random], str]


@st.composite
def columns(draw: st.DrawFn, values: Sequence[str]) -> Column:
    """How one field is filled: with one value, a few, any, numbers, or ids."""
    some = draw(st.lists(st.sampled_from(values), min_size=1, max_size=4))
    texts = st.sampled_from(
        [
            lambda r: some[0],
            lambda r: r.choice(some),
            lambda r: r.choice(values),
            lambda r: str(r.randint(1, 400)),
            lambda r: f'"ord-{r.randint(1000, 1400)}"',
            lambda r: f'{{"b":{r.randint(1, 3)},"c":"x"}}',
            lambda r: f"{r.randint(0, 99)}.{r.randint(10, 99)}",
        ]
    )
    return draw(texts)


JSON_VALUES = [json.dumps(v) for v in HARD] + SPELLED
LOG_VALUES = [re.sub("[\r\n]", " ", v if isinstance(v, str) else json.dumps(v)) for v in HARD] + [
    *SPELLED,
    *('"a b"', '""', '"open', "'ok'", "(ok)", "ok,", "ok.", "f(x)", "http://h/p?a=1&status=declined", "12ms", "a=b=c"),
]


@settings(max_examples=120, deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), columns(JSON_VALUES), min_size=1, max_size=6),
    st.sampled_from(["array", "map", "lines", "pretty"]),
    st.integers(5, 300),
    st.integers(0, 2**32),
)
def test_facts_about_json_are_true(fields: dict[str, Column], form: str, n: int, seed: int) -> None:
    r = random.Random(seed)
    rows = []
    for _ in range(n):
        here = [name for name in fields if r.random() < 0.93]
        here += [r.choice(list(fields))] if r.random() < 0.05 else []  # a key twice
        rows.append("{" + ",".join(f"{json.dumps(name)}:{fields[name](r)}" for name in here) + "}")
        if r.random() < 0.02:
            rows[-1] = r.choice(JSON_VALUES) if form in ("array", "pretty") else rows[-1]
    made = json_text(_as(form, rows))
    for line in made.text.splitlines() if form == "lines" else [made.text]:
        json.loads(line.encode("latin-1").decode("utf-8", "surrogatepass"))


def _as(form: str, rows: list[str]) -> str:
    if form == "lines":
        return "\n".join(rows)
    if form == "map":
        return "{" + ",".join(f'"k{i}":{row}' for i, row in enumerate(rows)) + "}"
    return ("[\n  " + " ,\r\n  ".join(rows) + "\n]") if form == "pretty" else f"[{','.join(rows)}]"


MESSAGES = [
    *("GET /cart", "status is fine", "retry: none", "error: none", "status: declined", "x = 5", "ruser= rhost=1.2.3.4"),
    *('{"status":"declined","id":7}', "'status': 'declined'", "level=error", "time=5ms", '"GET /x HTTP/1.1" 503 5'),
    *("… 5 lines elided: all status=ok …", "<<ccr:ccr_00000000000000000000000000000000>>", "password=hunter2"),
]
TRACES = [
    "\tat com.foo.Bar(Bar.java:12)",
    "Caused by: IOException status=declined",
    "    status=declined",
    "status=lost",
]
LOG_NAMES = [*(n for n in NAMES if re.fullmatch(r"[a-z_.]+", n)), "Status", "x-y", "failed", "http_status"]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(LOG_NAMES), st.sampled_from(["=", "=", "=", ": ", " = "]), columns(LOG_VALUES)),
        max_size=4,
    ),
    st.lists(st.sampled_from(MESSAGES), min_size=1, max_size=3),
    st.lists(st.sampled_from(["INFO", "WARN", "ERROR", "info", "level=info", ""]), min_size=1, max_size=3),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(5, 300),
    st.integers(0, 2**32),
)
def test_facts_about_logs_are_true(
    fields: list[tuple[str, str, Column]], messages: list[str], levels: list[str], newline: str, n: int, seed: int
) -> None:
    r = random.Random(seed)
    lines = []
    for i in range(n):
        said = " ".join(f"{name}{sign}{value(r)}" for name, sign, value in fields if r.random() < 0.95)
        again = f" {r.choice(LOG_NAMES)}={r.choice(LOG_VALUES)}" if r.random() < 0.03 else ""
        lines.append(f"2026-05-14T08:{i // 60:02d}:{i % 60:02d} {r.choice(levels)} {r.choice(messages)} {said}{again}")
        lines += [r.choice(TRACES) for _ in range(r.randint(1, 3))] if r.random() < 0.05 else []
    log_text(newline.join(lines).encode("utf-8", "surrogatepass"))


# ---------------------------------------------------------------- one hazard each


def said(made: Shortened) -> str:
    """All facts of all markers."""
    return "\n".join("; ".join(m.facts) for m in made.markers)


def claimed(made: Shortened) -> set[str]:
    """The fields that any marker says something about."""
    claims = [c for m in made.markers for c in parse("; ".join(m.facts))]
    constants = [name for c in claims if c.form == "constants" for name in re.findall(r"[ (]([\w.]+)=", c.text)]
    return {c.name.lower() for c in claims} | {name.lower() for name in constants}


def line(i: int, rest: str) -> str:
    return f"2026-05-14T08:{i // 60 % 60:02d}:{i % 60:02d}Z INFO order {i} of a customer went through {rest}"


def a_log(rest: Callable[[int], str], n: int = 400) -> Shortened:
    return log_text("".join(line(i, rest(i)) + "\n" for i in range(n)))


def rows(row: Callable[[int], str], n: int = 400) -> Shortened:
    return json_text("[" + ",".join(row(i) for i in range(n)) + "]")


def test_what_every_unit_says_is_said_once() -> None:
    assert "all status=ok region=eu" in said(rows(lambda i: f'{{"id":{i},"status":"ok","region":"eu"}}'))
    assert "status=ok" in said(a_log(lambda i: "status=ok"))


@pytest.mark.parametrize(
    "rest",
    [
        "status=ok retried status=declined",
        "status=ok retried STATUS=declined",
        "status=ok retried status: declined",
        "status=ok retried status = declined",
        'status=ok retried {"status":"declined"}',
        "status=ok retried {'status': 'declined'}",
        'status=ok msg="then status=declined"',
        "status=ok url=/p?x=1&status=declined",
        "status=ok cmd=status=declined",
        "status=ok user= status=declined",
        "status=ok\n    status=declined",
        "status=ok\n\tat Foo(Foo.java:1) status: declined",
    ],
)
def test_a_field_that_stands_twice_in_an_entry_is_not_claimed(rest: str) -> None:
    assert "status" not in claimed(a_log(lambda i: rest if i % 3 else "status=ok"))


@pytest.mark.parametrize(
    "row",
    [
        '{"id":%d,"s":"lost","s":"ok"}',
        '{"id":%d,"s":"ok","s":"ok"}',
        '{"id":%d,"s":{"t":"ok"},"s":{"t":"lost"}}',
        '{"id":%d,"s.t":"ok","s":{"t":"lost"}}',
        '{"id":%d,"s":[5],"s[0]":5}',
        '{"id":%d,"s":"ok","\\u0073":"ok"}',
    ],
)
def test_a_key_or_a_path_that_stands_twice_in_an_object_is_not_claimed(row: str) -> None:
    made = said(rows(lambda i: row % i if i % 3 else f'{{"id":{i}}}'))
    assert "id: " in made
    assert not re.search(r'\bs\b|"s', made)


def test_a_field_that_only_the_first_stretch_of_units_has_is_not_called_absent_elsewhere() -> None:
    log_text(
        "".join(
            line(i, "a=1 status=ok" if i < 2048 else "declined" if i < 3000 else "a status=lost") + "\n"
            for i in range(4200)
        )
    )
    rows(lambda i: f'{{"at":[1,2],"id":{i}}}' if i < 2048 else f'{{"at":[1,2{",3" * (i % 2)}],"id":{i}}}', 4200)
    rows(lambda i: f'{{"at":{{"x":1}},"id":{i}}}' if i < 2048 else f'{{"at":"there","id":{i}}}', 4200)


def test_more_fields_than_are_read_are_not_called_absent() -> None:
    def wide(i: int) -> str:
        before = "" if i < 2300 else "".join(f'"w{j}":{j},' for j in range(80))
        return f'{{{before}"status":"ok","a.b":1,"a":{{"b":{i % 2}}}}}'

    rows(wide, 4200)
    a_log(lambda i: ("" if i < 2300 else " ".join(f"w{j}={j}" for j in range(60))) + " status=ok", 4200)


@pytest.mark.parametrize("value", ["1,200", "1,200.50", "5(3)", "5[3]", "5|6", "1&2", "5'", '5"6', "5;6"])
def test_a_value_that_goes_on_behind_a_separator_is_not_cut_there(value: str) -> None:
    assert "total" not in said(a_log(lambda i: f"a=1 total={value if i % 2 else 7}"))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "null", '"5"', "true"])
def test_what_is_no_number_has_no_range_and_no_sum(number: str) -> None:
    made = said(rows(lambda i: f'{{"v":{number if i % 50 == 7 else i % 9 + 10},"n":"x{i}"}}'))
    assert not re.search(r"\bv=\d+\.\.|sum v", made)


def test_ranges_and_sums_are_decimal_and_in_the_source_s_spelling() -> None:
    base = 2**60

    def row(i: int) -> str:
        return f'{{"big":{base + i % 90},"cost":{i % 90}.10,"e":{["1e3", "1000", "999"][i % 3]},"s":"x"}}'

    made = rows(row)
    sums = re.findall(r"sum (\w+)=([\d.]+)", said(made))
    assert {"big", "cost", "e"} <= {name for name, _ in sums}
    assert re.search(r"big=115292150460684\d+\.\.115292150460684\d+", said(made))
    assert re.search(r"cost=\d+\.10\.\.\d+\.10", said(made))


def test_a_number_and_a_string_that_looks_like_it_are_told_apart() -> None:
    made = said(rows(lambda i: f'{{"id":{i},"n":1,"s":"1","t":"true","u":true,"v":"NaN","w":NaN}}'))
    assert 'n=1 s="1" t="true" u=true v="NaN" w=NaN' in made


def test_present_is_present() -> None:
    values = ["null", "[]", "{}", None]
    made = said(
        rows(lambda i: f'{{"id":{i},"pad":"xxxxxxxx"' + (f',"v":{values[i % 4]}' if values[i % 4] else "") + "}")
    )
    for value in ("null×", "[]×", "{}×", " absent×"):
        assert value in made


def test_leading_zeros_are_no_numbers_and_no_coverage() -> None:
    made = said(a_log(lambda i: f"order_id={i:05d} a=1"))
    assert not re.search(r"order_id(=|: \d+ distinct)", made)


def test_coverage_says_all_present_only_where_none_is_missing() -> None:
    dense = said(rows(lambda i: f'{{"order_id":"ord-{i + 1000}","x":{i % 7 * 1.5}}}'))
    holes = said(rows(lambda i: f'{{"order_id":"ord-{2 * i + 1000}","x":{i % 7 * 1.5}}}'))
    assert re.search(r"order_id: (\d+) distinct, ord-\d+\.\.ord-\d+, all \1 present", dense)
    assert "distinct" in holes
    assert "present" not in holes


def test_exponents_are_no_ids() -> None:
    assert "present" not in said(rows(lambda i: f'{{"user_id":1e{i},"note":"some words that fill the room"}}', 300))


@pytest.mark.parametrize(
    "name", ["token", "password", "api_key", "apiKey", "Cookie", "session_id", "client_secret", "auth"]
)
def test_secrets_are_never_quoted(name: str) -> None:
    assert is_secret(name)
    assert "hunter2" not in said(rows(lambda i: f'{{"id":{i},"{name}":"hunter2","o":{{"{name}":"hunter2"}}}}'))
    assert "hunter2" not in said(a_log(lambda i: f"{name}=hunter2 a=1"))


@pytest.mark.parametrize(
    "said_so", ["password=hunter2", "api_key: hunter2", "Authorization: Bearer hunter2", 'token="hunter2"']
)
def test_secrets_are_not_quoted_as_failures_either(said_so: str) -> None:
    entries = [
        f"2026-05-14T08:00:{i % 60:02d}Z ERROR request {i} with {said_so} was refused by the gate" for i in range(400)
    ]
    made = log_text("\n".join(entries))
    assert "failures: " in said(made)
    assert "hunter2" not in said(made)
    assert "hunter2" not in said(
        rows(lambda i: f'{{"id":{i},"token_error":"hunter2 expired","pad":"xxxxxxxxxxxxxxxx"}}')
    )


def test_bytes_that_are_no_text_are_not_quoted_as_if_they_were_one_value() -> None:
    lines = [line(i, "v=").encode() + bytes([0xF8 + i % 2]) for i in range(400)]
    assert "v=" not in said(log_text(b"\n".join(lines)))


def test_identifiers_have_no_sums() -> None:
    assert is_identifier("id")
    assert is_identifier("userId")
    assert not is_identifier("paid")
    assert "sum" not in said(rows(lambda i: f'{{"user_id":{i * 3},"port":{i},"year":2026}}'))


def test_a_list_is_whole_or_not_there() -> None:
    made = rows(lambda i: f'{{"name":"customer number {i}","note":"{"x" * (40 + i % 400)}"}}', 300)
    for marker in made.markers:
        for claim in parse("; ".join(marker.facts)):
            assert claim.form != "roster" or claim.text.count(", ") == marker.count - 1


def test_few_units_have_no_facts() -> None:
    made = rows(lambda i: f'{{"id":{i},"s":"ok"}}')
    group = made.document.groups[0]
    assert facts(Run(group, ((3, 5),)), 10_000) == ()
    assert facts(Run(group, ((3, 300),)), 100) == ()


# ---------------------------------------------------------------- the checker can find lies

TRUE = (
    "all region=eu",
    "state: paid×3 open×2 absent×1",
    "amount=0.99..12.00",
    "sum amount=28.94",
    "order_id: 6 distinct, ord-1..ord-6, all 6 present",
    'name: a, b, "c, d", e, f, g',
    "failures: state=declined×0",
)
UNITS: list[Unit] = [
    JsonUnit(f'{{"region":"eu",{state}"amount":{amount},"order_id":"ord-{i + 1}","name":"{name}","pad":"{"x" * 300}"}}')
    for i, (state, amount, name) in enumerate(
        [
            ('"state":"paid",', "0.99", "a"),
            ('"state":"open",', "1.95", "b"),
            ('"state":"paid",', "12.00", "c, d"),
            ('"state":"open",', "2.00", "e"),
            ("", "9.00", "f"),
            ('"state":"paid",', "3.00", "g"),
        ]
    )
]


def test_the_checker_finds_nothing_wrong_with_what_is_true() -> None:
    assert check(TRUE[:-1], UNITS, 2000) == []


LIES = [
    *("all region=us", "all region=eu state=paid", "all nothing=eu"),
    *("state: paid×3 open×2", "state: paid×4 open×1 absent×1", "state: paid×3 open×3", "state: paid×3 shut×2 absent×1"),
    *("amount=1..12.00", "amount=0.99..11.00", "amount=0.99..12", "name=1..2", "amount=0.5..12.00"),
    *("sum amount=28.95", "sum amount=28.940001", "sum name=3"),
    *("order_id: 5 distinct, ord-1..ord-6", "order_id: 6 distinct, ord-1..ord-7", "order_id: 6 distinct, ord-2..ord-6"),
    *("order_id: 6 distinct, ord-1..ord-6, all 7 present", "state: 2 distinct, paid..open"),
    *("name: a, b, c, d, e, f, g", 'name: b, a, "c, d", e, f, g', 'name: a, b, "c, d", e, f'),
    *("failures: state=declined×1", "failures: 7", "all region=eu; amount", "whatever", "state: paid×3, open×2"),
]


@pytest.mark.parametrize("lie", LIES)
def test_the_checker_finds_planted_lies(lie: str) -> None:
    assert check([lie], UNITS, 2000)


def test_the_checker_finds_a_claim_about_what_a_unit_says_twice() -> None:
    twice = JsonUnit('{"region":"eu","region":"us"}')
    assert check(["all region=eu"], [twice, *UNITS], 2000)
    entries: list[Unit] = [LogUnit("x status=ok"), LogUnit("x status=ok again status=declined")]
    assert check(["all status=ok"], entries, 2000)
    assert check(
        ["failures: 1"], [LogUnit("2026-05-14T08:00:00Z ERROR a"), LogUnit("2026-05-14T08:00:00Z ERROR b")], 2000
    )


def test_the_checker_finds_quoted_secrets_and_facts_beyond_their_share() -> None:
    assert check(["all api_token=x"], [JsonUnit('{"api_token":"x"}')], 2000)
    assert check(TRUE[:-1], UNITS, 300)


@given(st.data())
def test_the_checker_finds_any_number_that_is_off_by_one(data: st.DataObject) -> None:
    fact = data.draw(st.sampled_from(TRUE[:-1]))
    numbers = list(re.finditer(r"\d+", fact))
    if numbers:
        m = data.draw(st.sampled_from(numbers))
        lie = fact[: m.start()] + str(int(m[0]) + 1).rjust(len(m[0]), "0") + fact[m.end() :]
        assert check([lie], UNITS, 2000), lie


def test_claims_are_read_back_with_their_names() -> None:
    assert parse('all a=1; "x;y": "a; b"×2 absent×1') == [
        Claim("constants", "", "all a=1"),
        Claim("enumeration", "x;y", '"x;y": "a; b"×2 absent×1'),
    ]
    for failed in ("failures: 31", "failures: 31×1 39×1", 'failures: timeout×2 "31 late"×1'):
        assert parse(failed) == [Claim("failures", "", failed)]
