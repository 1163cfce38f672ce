"""What a server answers, to the last bit, with reasons; and what it refuses."""

import asyncio
import json
import re
import runpy
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("fastapi", reason="fastapi is not installed: pip install skcamel[serve]")
pytest.importorskip("httpx", reason="httpx is not installed: pip install --group test")

from serving import NAMES, ROW, TOKEN, ask, asked, mixed, mixed_table, numbers, rows, values
from skcamel import CamelClassifier, explain, outputs
from skcamel.baselines import LLSF
from skcamel.data import TablePreparer
from skcamel.data.pipeline import LabelPipeline
from skcamel.serve import Limits, Served, create_app


@pytest.fixture(scope="module")
def plain():
    return create_app(Served(numbers(), "plain"))


@pytest.fixture(scope="module")
def table():
    return create_app(Served(mixed(), "table"))


def predict(app, rows, **options):
    return ask(app, "POST", "/predict", json={"rows": rows, **options})


def records(n, first=0):
    columns, _ = mixed_table()
    return [{name: cells[r] for name, cells in columns.items()} for r in range(first, first + n)]


@pytest.mark.parametrize("n", [1, 7])
def test_answers_equal_those_of_this_process_to_the_last_bit_and_agree_with_each_other(plain, n):
    frame = pd.DataFrame(rows(200)[0][:n], columns=NAMES)
    expected = numbers().outputs(frame)
    response = predict(plain, frame.to_dict("records"), confidence=0.8)
    assert response.status_code == 200
    told = response.json()
    np.testing.assert_array_equal(values(told, "scores"), expected.scores)
    np.testing.assert_array_equal(values(told, "probabilities"), expected.probabilities)
    assert [tuple(record["labels"]) for record in told["predictions"]] == expected.label_sets
    words = np.array(["no", "yes", "open"])[expected.sets(0.8)]
    np.testing.assert_array_equal(values(told, "sets"), words)
    thresholds = ask(plain, "GET", "/model").json()["thresholds"]
    for record in told["predictions"]:
        passed = {name for name, p in record["probabilities"].items() if p > thresholds[name]}
        assert passed == set(record["labels"])
        assert {name for name, word in record["sets"].items() if word == "yes"} <= passed
        assert not {name for name, word in record["sets"].items() if word == "no"} & passed


def test_missing_values_are_taken_by_models_of_tables(table):
    row = dict.fromkeys(records(1)[0])
    response = predict(table, [row, {name: None for name in row if name != "plan"}])
    error = "row 2, column 'plan': Field required; GET /model describes the columns."
    assert (response.status_code, response.json()["error"]) == (422, error)
    expected = outputs(mixed(), {name: [None] for name in row})
    np.testing.assert_array_equal(values(predict(table, [row]).json(), "scores"), expected.scores)


def test_reasons_are_those_of_this_process_by_columns_and_by_labels(table):
    told = predict(table, records(2), explain=True).json()
    columns, _ = mixed_table()
    found = explain(mixed(), {name: cells[:2] for name, cells in columns.items()}, features=True)
    for r, record in enumerate(told["predictions"]):
        assert [reason["label"] for reason in record["reasons"]] == list(record["scores"])
        for j, reason in enumerate(record["reasons"]):
            assert reason["columns"] == [part._asdict() for part in found.column_values(r, j, 8)]
            amounts = [push.amount for push in found.pushes(r, j, 8)]
            assert [push["push"] for push in reason["pushes"]] == amounts
            by_column = sum(part["value"] for part in reason["columns"])
            by_column += reason["no_column"] + reason["other_columns"]
            by_label = sum(amounts) + reason["base"] + reason["own"] + reason["other_pushes"]
            assert by_column == pytest.approx(reason["score"])
            assert by_label == pytest.approx(reason["score"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "body: Field required; send {"),
        (b"{", "the body is no JSON"),
        (b'"../../etc/passwd"', "body: Input should be"),
        (b'{"rows": []}', "rows: List should have at least 1 item"),
        (b'{"rows": [1]}', "row 1: Input should be a valid dictionary"),
        (b'{"rows": [ROW, {"height": "deep"}]}', "row 2, column 'height': Input should be a"),
        (b'{"rows": [{"height": null}]}', "column 'height': Input should be a valid number"),
        (b'{"rows": [{"height": NaN}]}', "column 'height': Input should be a finite number"),
        (b'{"rows": [{"height": 1' + b"0" * 400 + b"}]}", "column 'height': Input should be"),
        (b'{"rows": [ROW], "colour": 1}', "colour: Extra inputs are not permitted"),
        (b'{"rows": [ROW], "confidence": 2}', "confidence: Input should be less than or equal"),
        (b'{"rows": [ROW], "explain": 2}', "explain: Input should be a valid boolean"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_do(plain, content, said):
    content = content.replace(b"ROW", json.dumps(ROW).encode())
    headers = {"content-type": "application/json"}
    response = ask(plain, "POST", "/predict", content=content, headers=headers)
    assert response.status_code == 422
    assert said in response.json()["error"]


def test_models_that_no_server_can_ask_are_refused():
    X, Y = rows()
    texts = ["sun", "sea", "sun sea"]
    words = make_pipeline(CountVectorizer(), CamelClassifier()).fit(texts, Y[:3, :2])
    for model in (words, CamelClassifier().fit(X, Y[:, 0]), LLSF().fit(X, Y)):
        with pytest.raises(ValueError, match="needs a CamelClassifier or CamelClassifierCV that"):
            Served(model, "odd")


def test_typical_values_are_frequent_values_and_means_and_no_training_row(table):
    facts = ask(table, "GET", "/model").json()
    columns = {column["name"]: column for column in facts["columns"]}
    assert {name: column["kind"] for name, column in columns.items()} == {
        "opened": "date", "plan": "category", "paid": "number", "smoker": "flag",
        "topics": "tags", "note": "text",
    }  # fmt: skip
    given, _ = mixed_table()
    for name in ("plan", "smoker"):
        counts = {value: given[name].count(value) for value in given[name]}
        assert counts[facts["example"][name]] == max(counts.values())
    assert facts["example"]["topics"] == "red"
    assert not {*given["note"]} & {facts["example"]["note"]}
    told = predict(table, [facts["example"]]).json()
    assert told["notes"] == []


@pytest.mark.parametrize("scaling", ["none", "standard", "minmax", "rank"])
def test_typical_numbers_are_in_the_units_of_the_input(scaling):
    (X, Y), far = rows(), np.array([0, 50, -7])
    model = CamelClassifier(scaling=scaling).fit(X + far, Y)
    typical = list(Served(model, "far").example.values())
    np.testing.assert_allclose(typical, X.mean(axis=0) + far, atol=0.3)
    behind = make_pipeline(StandardScaler(), CamelClassifier()).fit(X, Y)
    assert predict(create_app(Served(behind, "p")), [Served(behind, "p").example]).is_success


def test_fifty_clients_at_once_get_their_own_answers(table):
    wanted = [records(1 + k % 3, k % 80) for k in range(50)]
    requests = [("POST", "/predict", {"json": {"rows": own}}) for own in wanted]
    for own, response in zip(wanted, asyncio.run(asked(table, requests)), strict=True):
        columns = {name: [row[name] for row in own] for name in own[0]}
        expected = outputs(mixed(), columns).scores
        np.testing.assert_array_equal(values(response.json(), "scores"), expected)


def test_limits_are_answered_with_what_to_do(monkeypatch):
    app = create_app(Served(numbers(), "small", limits=Limits(body=300, rows=2)))
    response = predict(app, [ROW] * 3)
    assert response.status_code == 422
    assert "rows: List should have at most 2 items" in response.json()["error"]
    response = predict(app, [ROW] * 30)
    assert response.status_code == 413
    assert "at most 300 bytes, got " in response.json()["error"]
    response = ask(app, "POST", "/predict", headers={"transfer-encoding": "chunked"})
    assert (response.status_code, "Content-Length" in response.json()["error"]) == (413, True)
    monkeypatch.setattr("skcamel.serve.model.MOST_VALUES", 20)
    response = predict(app, [ROW] * 2)
    assert (response.status_code, "send fewer rows" in response.json()["error"]) == (422, True)


def test_a_request_that_waits_too_long_is_refused_and_one_that_has_begun_is_answered(monkeypatch):
    served = Served(numbers(), "slow", limits=Limits(seconds=0.2, threads=1))
    app, may_go, answer = create_app(served), threading.Event(), served.answer
    monkeypatch.setattr(served, "answer", lambda request: may_go.wait(10) and answer(request))

    async def three():
        loop = asyncio.get_running_loop()
        loop.call_later(0.5, may_go.set)  # the first is at work, the second waits in vain
        request = ("POST", "/predict", {"json": {"rows": [ROW], "explain": True}})
        return await asked(app, [request] * 2) + await asked(app, [request])

    statuses = [response.status_code for response in asyncio.run(three())]
    assert sorted(statuses[:2]) == [200, 503]
    assert statuses[2] == 200


def test_an_error_inside_is_500_without_details_and_stands_in_the_log(monkeypatch, caplog):
    served = Served(numbers(), "broken")
    app = create_app(served)
    monkeypatch.setattr(served, "answer", lambda _: {}["secret"])
    response = predict(app, [ROW])
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "this is a bug in skcamel" in caplog.text

    def too_large(_):
        raise MemoryError("3 GiB are needed.")

    monkeypatch.setattr(served, "answer", too_large)
    response = predict(app, [ROW])
    assert response.status_code == 503
    assert response.json()["error"].startswith("3 GiB are needed. Send fewer rows")


def test_a_token_is_needed_for_all_that_tells_of_the_model():
    app = create_app(Served(numbers(), "closed"), token=TOKEN)
    wrong = [{}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}]
    wrong.append({"authorization": "Bearer é".encode("latin-1")})
    for path in ("/model", "/metrics", "/openapi.json", "/nowhere"):
        for headers in wrong:
            assert ask(app, "GET", path, headers=headers).status_code == 401
    for path in ("/", "/docs", "/static/page.js", "/health", "/ready"):
        response = ask(app, "GET", path)
        assert response.status_code == 200
        assert "depth</b>" not in response.text
    right = {"authorization": f"Bearer {TOKEN}"}
    assert predict(app, [ROW]).status_code == 401
    assert ask(app, "POST", "/predict", json={"rows": [ROW]}, headers=right).status_code == 200
    assert ask(app, "GET", "/openapi.json", headers=right).status_code == 200


def test_metrics_count_requests_rows_and_time_and_know_no_foreign_path(plain):
    def count(line):
        lines = ask(plain, "GET", "/metrics").text.splitlines()
        return sum(float(own.split()[-1]) for own in lines if own.startswith(line))

    answered = 'skcamel_request_seconds_count{path="/predict",status="200"}'
    unknown = 'skcamel_request_seconds_count{path="other",status="404"}'
    before = [count(line) for line in ("skcamel_rows_total", answered, unknown)]
    predict(plain, [ROW] * 5)
    ask(plain, "GET", '/nowhere"} 1')
    after = [count(line) for line in ("skcamel_rows_total", answered, unknown)]
    assert np.subtract(after, before).tolist() == [5, 1, 1]
    assert count("process_resident_memory_bytes") > 1e6


def test_readiness_ends_before_health_when_the_server_stops():
    app = create_app(Served(numbers(), "stopping"))
    assert ask(app, "GET", "/ready").status_code == 200
    app.state.stopping = True
    response = ask(app, "GET", "/ready")
    assert (response.status_code, response.headers["connection"]) == (503, "close")
    assert ask(app, "GET", "/health").status_code == 200
    assert predict(app, [ROW]).status_code == 200


def test_paths_that_are_not_there_and_headers_of_every_answer(plain):
    cases = [("GET", "/predict", 405), ("POST", "/model", 405), ("GET", "/../etc/passwd", 404)]
    cases += [("GET", "/", 200), ("HEAD", "/", 200), ("GET", "/static/../app.py", 404)]
    for method, path, status in cases:
        response = ask(plain, method, path)
        assert (path, response.status_code) == (path, status)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert "default-src 'self'" in response.headers["content-security-policy"]


def test_the_description_holds_every_column_and_the_example(table):
    told = ask(table, "GET", "/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    columns = told["components"]["schemas"]["Row"]["properties"]
    assert {*columns, "ticket"} == {*mixed()[0].kinds_}
    request = told["components"]["schemas"]["Request"]["properties"]
    assert set(request) == {"rows", "confidence", "explain"}
    assert request["rows"]["examples"] == [[ask(table, "GET", "/model").json()["example"]]]


def test_the_request_of_the_documentation_works_on_the_tickets():
    root = Path(__file__).parents[2]
    rows = runpy.run_path(str(root / "examples" / "messy_table.py"))["tickets"](150, seed=1)
    tags = [row.pop("tags").split("|") for row in rows]
    names = sorted({tag for own in tags for tag in own if tag})
    Y = np.array([[name in own for name in names] for own in tags]).astype(int)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    steps = [("prepare", TablePreparer()), ("classify", CamelClassifier(scores="log_odds"))]
    app = create_app(Served(LabelPipeline(steps).fit(columns, Y), "tickets"))
    page = (root / "docs" / "deploy.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"/predict -H 'Content-Type: application/json' -d '([^']+)'", page)
    response = ask(app, "POST", "/predict", json=json.loads(text))
    assert response.status_code == 200, response.text
    assert response.json()["notes"] == []
