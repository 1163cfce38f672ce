"""What a server answers: the predictions of this process to the last bit, from JSON and CSV, with reasons; and what it refuses."""

import asyncio
import json
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

pytest.importorskip("starlette", reason="starlette is not installed: pip install skcamel[serve]")
pytest.importorskip("httpx", reason="httpx is not installed: pip install --group test")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install skcamel[tables]")

from serving import NAMES, ask, asked, body, mixed, mixed_table, numbers, rows, values
from skcamel import CamelClassifier, explain, outputs
from skcamel.serve import Limits, Served, create_app


@pytest.fixture(scope="module")
def plain():
    return create_app(Served(numbers(), "plain"))


@pytest.fixture(scope="module")
def table():
    return create_app(Served(mixed(), "table"))


def records(n, first=0):
    columns, _ = mixed_table()
    return [{name: cells[r] for name, cells in columns.items()} for r in range(first, first + n)]


def csv_of(columns, separator=","):
    lines = [separator.join(columns)]
    lines += [
        separator.join("" if cell is None else str(cell) for cell in cells)
        for cells in zip(*columns.values(), strict=True)
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_answers_equal_those_of_this_process_to_the_last_bit(plain, n):
    X = rows(200)[0][:n]
    expected = numbers().outputs(pd.DataFrame(X, columns=NAMES))
    for sent in ([dict(zip(NAMES, row, strict=True)) for row in X.tolist()], X.tolist()):
        response = ask(plain, "POST", "/predict", **body(sent, decisions=True, confidence=0.8))
        assert response.status_code == 200
        told = response.json()
        np.testing.assert_array_equal(values(told, "scores"), expected.scores)
        np.testing.assert_array_equal(values(told, "probabilities"), expected.probabilities)
        np.testing.assert_array_equal(values(told, "decisions"), expected.decisions)
        assert [tuple(record["labels"]) for record in told["predictions"]] == expected.label_sets
        words = np.array(["no", "yes", "open"])[expected.sets(0.8)]
        np.testing.assert_array_equal(values(told, "sets"), words)
        for record in told["predictions"]:
            assert {name for name, word in record["sets"].items() if word == "yes"} <= set(
                record["labels"]
            )
            assert not {name for name, word in record["sets"].items() if word == "no"} & set(
                record["labels"]
            )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_body_and_json_rows_of_a_table_give_the_same_answers(table, separator):
    columns, _ = mixed_table()
    expected = outputs(mixed(), columns)
    by_json = ask(table, "POST", "/predict", **body(records(90)))
    by_csv = ask(
        table,
        "POST",
        "/predict?decisions=true",
        content=csv_of(columns, separator),
        headers={"content-type": "text/csv; charset=utf-8"},
    )
    for response in (by_json, by_csv):
        assert response.status_code == 200, response.text
        np.testing.assert_array_equal(values(response.json(), "scores"), expected.scores)
        assert response.json()["notes"] == []
    assert by_csv.json()["predictions"][3]["ticket"] == "T-3"
    assert "decisions" in by_csv.json()["predictions"][0]


def test_gaps_are_taken_by_models_of_tables_and_refused_by_name_elsewhere(table, plain):
    row = dict.fromkeys(records(1)[0])
    response = ask(table, "POST", "/predict", **body([row]))
    assert response.status_code == 200
    expected = outputs(mixed(), {name: [None] for name in row})
    np.testing.assert_array_equal(values(response.json(), "scores"), expected.scores)
    for gap in (None, float("nan"), float("inf")):
        response = ask(
            plain, "POST", "/predict", **body([{"height": 1, "width": gap, "<b>depth</b>": 2}])
        )
        assert response.status_code == 422
        assert (
            "missing or infinite, the first in row 1, feature 2 ('width')"
            in response.json()["error"]
        )


def test_a_column_that_is_not_there_is_named(table, plain):
    response = ask(plain, "POST", "/predict", **body([{"height": 1, "width": 2}]))
    assert (
        response.status_code,
        "row 1 lacks the column '<b>depth</b>'" in response.json()["error"],
    ) == (422, True)
    row = records(1)[0]
    del row["plan"]
    response = ask(table, "POST", "/predict", **body([row]))
    assert (
        response.status_code,
        "the table lacks the column 'plan'" in response.json()["error"],
    ) == (422, True)
    lenient = create_app(Served(mixed(), "table", allow_missing=True))
    assert ask(lenient, "POST", "/predict", **body([row])).status_code == 200
    assert mixed()[0].allow_missing is False  # a model that is served stays as it was


def test_unknown_columns_are_left_aside_with_a_note_and_labels_without(plain):
    row = dict(zip(NAMES, rows()[0][0].tolist(), strict=True)) | {"extra": "x", "sea": 1}
    told = ask(plain, "POST", "/predict", **body([row])).json()
    assert told["notes"] == ["left aside: the column 'extra', which the model does not know"]


def test_reasons_are_those_of_this_process_by_columns_and_by_labels(table):
    told = ask(
        table, "POST", "/predict", **body(records(2), reasons=True, labels=["label2"], top=3)
    ).json()
    columns, _ = mixed_table()
    found = explain(mixed(), {name: cells[:2] for name, cells in columns.items()}, features=True)
    for r, record in enumerate(told["predictions"]):
        (reason,) = record["reasons"]
        assert reason["label"] == "label2"
        assert reason["columns"] == [part._asdict() for part in found.column_values(r, 1, 3)]
        assert [push["push"] for push in reason["pushes"]] == [
            push.amount for push in found.pushes(r, 1, 3)
        ]
        assert reason["no_column"] + sum(part["value"] for part in reason["columns"]) + reason[
            "other_columns"
        ] == pytest.approx(reason["score"])
    all_told = ask(table, "POST", "/predict", **body(records(20), reasons=True)).json()[
        "predictions"
    ]
    assert any(told["labels"] for told in all_told)
    for told in all_told:
        assert {reason["label"] for reason in told["reasons"]} == set(told["labels"]) or (
            not told["labels"] and len(told["reasons"]) == 1
        )


def test_only_what_is_asked_for(plain):
    X = rows()[0][:1].tolist()
    (told,) = ask(plain, "POST", "/predict", **body(X, scores=False, probabilities=False)).json()[
        "predictions"
    ]
    assert sorted(told) == ["labels", "row"]
    response = ask(plain, "POST", "/predict?scores=false&confidence=0.9", **body(X))
    assert sorted(response.json()["predictions"][0]) == ["labels", "probabilities", "row", "sets"]


def test_numbers_come_as_text_too_where_a_person_types_them(plain):
    X = rows()[0][:1]
    as_text = [[str(value) for value in X[0].tolist()]]
    told = ask(plain, "POST", "/predict", **body(as_text)).json()
    np.testing.assert_array_equal(
        values(told, "scores"), numbers().outputs(pd.DataFrame(X, columns=NAMES)).scores
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"3", "send {"),
        (b'"../../etc/passwd"', "send {"),
        (b"{}", "'rows' must be a list"),
        (b'{"rows": []}', "'rows' must be a list of at least one row"),
        (b'{"rows": "/etc/passwd"}', "'rows' must be a list"),
        (b'{"rows": [1]}', "row 1 is '1'"),
        (b'{"rows": [[1, 2]]}', "row 1 has 2 values, the model has 3 columns"),
        (b'{"rows": [[1, 2, {"a": 1}]]}', "'<b>depth</b>' of row 1 is an object"),
        (b'{"rows": [[1, 2, "deep"]]}', "'deep' in column '<b>depth</b>', row 1"),
        (b'{"rows": [[1, 2, 1' + b"0" * 400 + b"]]}", "more than 308 digits"),
        (b'{"rows": [[1, 2, 1e308]], "colour": 1}', "'colour' cannot be asked for"),
        (
            b'{"rows": [[1, 2, 3]], "confidence": 2}',
            "confidence must be a number above 0 and at most 1",
        ),
        (b'{"rows": [[1, 2, 3]], "confidence": "nan"}', "confidence must be"),
        (b'{"rows": [[1, 2, 3]], "scores": 2}', "scores must be true or false"),
        (b'{"rows": [[1, 2, 3]], "top": -1}', "top must be a whole number"),
        (b'{"rows": [[1, 2, 3]], "labels": "sea"}', "labels must be a list"),
        (b'{"rows": [[1, 2, 3]], "labels": ["moon"]}', "no label 'moon'; it has 'sea'"),
        (b'{"rows": [[1, 2, "\\ud800"]]}', "correct"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_do(plain, content, said):
    response = ask(
        plain, "POST", "/predict", content=content, headers={"content-type": "application/json"}
    )
    assert response.status_code == 422
    assert said in response.json()["error"]


def test_scores_that_are_not_finite_are_no_answer():
    X, Y = rows()
    app = create_app(
        Served(CamelClassifier(0.1, kernel="linear", scaling="none").fit(X, Y), "linear")
    )
    response = ask(app, "POST", "/predict", **body([[1e308, 1e308, -1e308], [1, 2, 3]]))
    assert response.status_code == 422
    assert "scores of row 1 are not finite" in response.json()["error"]


def test_models_that_lack_something_say_so_and_answer_the_rest():
    X, Y = rows()
    app = create_app(Served(CamelClassifier(0.1, solver="alternating").fit(X, Y), "old"))
    facts = ask(app, "GET", "/model").json()
    assert facts["answers"] == {"probabilities": False, "sets": False}
    assert [column["name"] for column in facts["columns"]] == ["x1", "x2", "x3"]
    for option, said in (
        ("confidence", "no prediction sets"),
        ("probabilities", "scores but no probabilities"),
    ):
        response = ask(
            app,
            "POST",
            "/predict",
            **body([[1, 2, 3]], **{option: 1.0 if option == "confidence" else True}),
        )
        assert (response.status_code, said in response.json()["error"]) == (422, True)
    assert ask(app, "POST", "/predict", **body([[1, 2, 3]])).status_code == 200
    words = make_pipeline(CountVectorizer(), CamelClassifier()).fit(
        ["sun", "sea", "sun sea"], np.array([[1, 0], [0, 1], [1, 1]])
    )
    with pytest.raises(ValueError, match="does not tell its columns; begin with a TablePreparer"):
        Served(words, "words")
    with pytest.raises(ValueError, match="one column of classes"):
        Served(CamelClassifier().fit(X, Y[:, 0]), "classes")


def test_a_model_tells_its_columns_and_typical_values_but_no_training_row(table, plain):
    facts = ask(table, "GET", "/model").json()
    columns = {column["name"]: column for column in facts["columns"]}
    assert {name: column["kind"] for name, column in columns.items()} == {
        "opened": "date", "plan": "category", "paid": "number", "smoker": "flag", "topics": "tags", "note": "text",
    }  # fmt: skip
    assert columns["plan"]["choices"] == ["firm", "free", "team"]
    assert columns["paid"]["low"] < columns["paid"]["typical"] < columns["paid"]["high"]
    response = ask(table, "POST", "/predict", **body([facts["example"]]))
    assert response.status_code == 200
    assert not any(
        "not readable" in note for note in response.json()["notes"]
    )  # dates are written as the column has them
    facts = ask(plain, "GET", "/model").json()
    assert [column["typical"] for column in facts["columns"]] == [0.0] * len(
        facts["columns"]
    )  # nothing is known of numbers alone


def test_fifty_clients_at_once_get_their_own_answers(table):
    requests = [("POST", "/predict", body(records(1 + k % 3, k % 80))) for k in range(50)]
    answers = asyncio.run(asked(table, requests))
    for k, response in enumerate(answers):
        columns, _ = mixed_table()
        own = {name: cells[k % 80 : k % 80 + 1 + k % 3] for name, cells in columns.items()}
        np.testing.assert_array_equal(
            values(response.json(), "scores"), outputs(mixed(), own).scores
        )


def test_limits_are_answered_with_what_to_do():
    app = create_app(Served(numbers(), "small", limits=Limits(body=200, rows=2)))
    response = ask(app, "POST", "/predict", **body([[1, 2, 3]] * 3))
    assert (response.status_code, response.json()["error"]) == (
        422,
        "3 rows came, at most 2 are taken; send them in several requests.",
    )
    response = ask(app, "POST", "/predict", **body([[1, 2, 3]] * 100))
    assert response.status_code == 413
    assert "at most 200 bytes are taken; send fewer rows" in response.json()["error"]
    response = ask(
        app,
        "POST",
        "/predict",
        content="height,width,<b>depth</b>\n" + "1,2,3\n" * 3,
        headers={"content-type": "text/csv"},
    )
    assert response.status_code == 422
    assert (
        ask(
            app, "POST", "/predict", content="x", headers={"content-type": "text/plain"}
        ).status_code
        == 415
    )
    assert (
        ask(
            app,
            "POST",
            "/predict",
            content="x",
            headers={"content-type": "text/csv", "content-encoding": "gzip"},
        ).status_code
        == 415
    )


def test_one_prediction_too_many_is_told_to_come_back_and_one_too_slow_keeps_its_place(monkeypatch):
    served = Served(numbers(), "slow", limits=Limits(requests=2, seconds=0.05, threads=1))
    app, may_go = create_app(served), threading.Event()
    quick = served.answer
    monkeypatch.setattr(served, "answer", lambda *given: may_go.wait() and quick(*given))
    request = ("POST", "/predict", body([[1, 2, 3]]))

    async def four():
        found = await asked(app, [request] * 3)
        found += await asked(
            app, [request]
        )  # the first is still in its thread, and has its place; the second never began
        may_go.set()
        while app.state.skcamel.gate.at_work:
            await asyncio.sleep(0)
        return found + await asked(app, [request])

    statuses = [response.status_code for response in asyncio.run(four())]
    assert statuses == [503, 503, 429, 503, 200]


def test_a_refusal_says_when_to_come_back():
    served = Served(numbers(), "busy", limits=Limits(requests=1))
    app = create_app(served)
    app.state.skcamel.gate.at_work = 1
    response = ask(app, "POST", "/predict", **body([[1, 2, 3]]))
    assert (response.status_code, response.headers["retry-after"]) == (429, "1")
    assert "try again" in response.json()["error"]


def test_an_error_inside_is_500_without_details_and_stands_in_the_log(monkeypatch, caplog):
    served = Served(numbers(), "broken")
    app = create_app(served)

    def fail(*_):
        raise KeyError("secret")

    monkeypatch.setattr(served, "answer", fail)
    response = ask(app, "POST", "/predict", **body([[1, 2, 3]]))
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "this is a bug in skcamel" in caplog.text
    monkeypatch.setattr(
        served, "answer", lambda *_: (_ for _ in ()).throw(MemoryError("3 GiB are wanted."))
    )
    response = ask(app, "POST", "/predict", **body([[1, 2, 3]]))
    assert (response.status_code, response.json()["error"]) == (
        503,
        "3 GiB are wanted. Send fewer rows, or try again later.",
    )


TOKEN = "a-token-of-sixteen-or-more"  # noqa: S105


def test_a_token_is_wanted_by_all_that_tells_of_the_model():
    app = create_app(Served(numbers(), "closed"), token=TOKEN)
    for path in ("/model", "/metrics", "/openapi.json", "/nowhere"):
        for header in (
            {},
            {"authorization": "Bearer wrong"},
            {"authorization": TOKEN},
            {"authorization": "Bearer é".encode("latin-1")},
        ):
            response = ask(app, "GET", path, headers=header)
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    for path in ("/", "/health", "/ready"):
        assert ask(app, "GET", path).status_code == 200
    assert "depth</b>" not in ask(app, "GET", "/").text
    request = body([[1, 2, 3]])
    assert ask(app, "POST", "/predict", **request).status_code == 401
    request["headers"]["authorization"] = f"Bearer {TOKEN}"
    assert ask(app, "POST", "/predict", **request).status_code == 200
    assert ask(app, "GET", "/openapi.json", headers={"authorization": f"Bearer {TOKEN}"}).json()[
        "components"
    ]["securitySchemes"]


def test_metrics_count_requests_rows_and_time_and_know_no_foreign_path(plain):
    app = create_app(Served(numbers(), "counted"))
    ask(app, "POST", "/predict", **body([[1, 2, 3]] * 5))
    ask(app, "GET", '/nowhere"} 1')
    text = ask(app, "GET", "/metrics").text
    assert 'skcamel_requests_total{path="/predict",status="200"} 1' in text
    assert 'skcamel_requests_total{path="other",status="404"} 1' in text
    assert "skcamel_rows_total 5" in text
    assert 'skcamel_predict_seconds_bucket{le="+Inf"} 1' in text
    assert all(line.startswith(("#", "skcamel_")) for line in text.splitlines())


def test_readiness_ends_before_health_when_the_server_stops():
    app = create_app(Served(numbers(), "stopping"))
    assert ask(app, "GET", "/ready").status_code == 200
    app.state.skcamel.stopping = True
    response = ask(app, "GET", "/ready")
    assert (response.status_code, response.headers["connection"]) == (503, "close")
    assert ask(app, "GET", "/health").status_code == 200
    assert ask(app, "POST", "/predict", **body([[1, 2, 3]])).status_code == 200


def test_paths_and_methods_that_are_not_there(plain):
    for method, path, status in (
        ("GET", "/predict", 405),
        ("POST", "/model", 405),
        ("GET", "/../etc/passwd", 404),
    ):
        response = ask(plain, method, path)
        assert response.status_code == status
        assert "POST /predict" in response.json()["error"]
    assert ask(plain, "HEAD", "/health").status_code == 200


def test_every_answer_forbids_sniffing_and_keeping(plain):
    for path in ("/", "/model", "/nowhere"):
        headers = ask(plain, "GET", path).headers
        assert (
            headers["x-content-type-options"],
            headers["cache-control"],
            headers["x-frame-options"],
        ) == ("nosniff", "no-store", "DENY")


def test_the_description_holds_every_path_column_and_label(table):
    told = ask(table, "GET", "/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    assert set(told["paths"]["/predict"]["post"]["responses"]) == {
        "200",
        "408",
        "413",
        "415",
        "422",
        "429",
        "503",
    }
    assert set(told["components"]["schemas"]["Row"]["properties"]) == {
        "opened",
        "plan",
        "paid",
        "smoker",
        "topics",
        "note",
    }
    references = set()

    def walk(value):
        for key, item in (
            value.items()
            if isinstance(value, dict)
            else enumerate(value)
            if isinstance(value, list)
            else ()
        ):
            if key == "$ref":
                references.add(item.removeprefix("#/components/schemas/"))
            walk(item)

    walk(told)
    assert references == set(told["components"]["schemas"])
    example = told["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"][
        "example"
    ]
    assert (
        ask(
            table,
            "POST",
            "/predict",
            content=json.dumps(example),
            headers={"content-type": "application/json"},
        ).status_code
        == 200
    )


def test_answers_of_too_many_numbers_are_refused(monkeypatch, plain):
    monkeypatch.setattr("skcamel.serve.model.MOST_VALUES", 20)
    assert (
        "send fewer rows" in ask(plain, "POST", "/predict", **body([[1, 2, 3]] * 3)).json()["error"]
    )
    response = ask(plain, "POST", "/predict", **body([[1, 2, 3]] * 2, reasons=True, scores=False))
    assert (response.status_code, "reasons of fewer rows" in response.json()["error"]) == (
        422,
        True,
    )
