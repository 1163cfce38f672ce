"""Published tables of one's own: read from CSV and JSON, with the line of every mistake."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_records import study
from skcamel.experiment import read_published
from skcamel.experiment.forms import csv_files
from skcamel.experiment.paper import SEVEN, Metric, PaperFigure, paper_figures
from skcamel.experiment.published import paper_table
from skcamel.experiment.summary import summarise
from skcamel.experiment.tables import results_table
from skcamel.metrics import NAMES

HEAD = "method,dataset,metric,mean,std\n"


def written(tmp_path, text, name="mine.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_names_and_titles_are_understood_and_std_may_be_missing(tmp_path):
    rows = [
        ("CAMEL", "mine", "Hamming loss", 0.2, 0.01),
        ("knn", "mine", "hamming_loss", 0.3, None),
        ("knn", "mine", "F0.5", 0.4, 0.0),
    ]
    text = HEAD + "".join(
        ",".join("" if value is None else str(value) for value in row) + "\n" for row in rows
    )
    first = read_published(written(tmp_path, text))
    assert first.figures["mine", "hamming_loss", "camel"] == PaperFigure(0.2, 0.01, bold=True)
    assert math.isnan(first.figures["mine", "hamming_loss", "knn"].std)
    assert first.figures["mine", "F0.5", "knn"] == PaperFigure(
        0.4, 0.0, bold=False
    )  # which of its values is best is not known
    assert (first.name, first.short, first.methods, first.datasets) == (
        "table mine.csv",
        "table",
        ("camel", "knn"),
        ("mine",),
    )


def test_what_tables_write_as_csv_is_read_again(tmp_path):
    summary = summarise(study(["yeast", "mine"], ["camel", "br"], n_folds=3))
    table = results_table(summary, summary.datasets, "all")
    found = read_published(written(tmp_path, next(iter(csv_files([table]).values()))))
    assert {key: cell[:2] for key, cell in found.figures.items()} == {
        key: cell[:2] for key, cell in summary.figures.items()
    }
    bold = {(row["dataset"], row["metric"], row["method"]) for row in table.data if row["best"]}
    assert bold == {key for key, cell in found.figures.items() if cell.bold}


def test_columns_may_stand_in_any_order_with_others_between_and_a_byte_order_mark(tmp_path):
    text = "\ufeff Mean,note,Metric,Dataset,Method\n0.5,,coverage,mine,br\n"
    assert list(read_published(written(tmp_path, text)).figures) == [("mine", "coverage", "br")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            (
                "line 1: the column method is missing; the head must name method, dataset, metric,"
                " mean and may name std."
            ),
        ),
        ("method,dataset,mean\n", "line 1: the column metric is missing"),
        (HEAD, "holds no figure"),
        (HEAD + "br,mine,coverage,0.5,\nbr,,coverage,0.5,\n", "line 3: dataset is missing"),
        (
            HEAD + "br,mine,coverage,,\n",
            "line 2: mean is missing; leave out a figure that is not known.",
        ),
        (
            HEAD + 'br,mine,coverage,"0,5",\n',
            "line 2: mean is '0,5'; it must be a number with a point",
        ),
        (HEAD + "br,mine,coverage,0.5±0.1,\n", "line 2: mean is '0.5±0.1'"),
        (HEAD + "br,mine,coverage,inf,\n", "line 2: mean is 'inf'"),
        (HEAD + "br,mine,coverage,nan,\n", "line 2: mean is 'nan'"),
        (HEAD + "br,mine,coverage,0.5,-1\n", "line 2: std is -1; it cannot be negative."),
        (HEAD + "br,mine,coverage,0.5,0.1,7\n", "line 2: more cells than the head has names"),
        (
            HEAD + "br,mine,coverage,0.5,\nBR,mine,Coverage,0.6,\n",
            "line 3: br on mine has a second figure for coverage",
        ),
        (HEAD + 'br,"mine" set,coverage,0.5,\n', "line 2: ',' expected after"),
        ('"method" x,dataset\n', "line 1: ',' expected after"),
    ],
)
def test_a_mistake_in_csv_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=r"mine\.csv") as error:
        read_published(written(tmp_path, text))
    assert message in str(error.value)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "mine.csv").write_bytes(b"method,\xff\xfe\x00")
    with pytest.raises(
        ValueError, match=r"mine.csv is not UTF-8 text; save it as a CSV file in UTF-8\."
    ):
        read_published(tmp_path / "mine.csv")


@given(
    st.dictionaries(
        st.sampled_from("abcde"), st.integers(0, 5).map(lambda value: value / 10), min_size=1
    ),
    st.sampled_from(NAMES),
)
def test_the_best_figure_is_that_of_no_method_that_is_worse(tmp_path_factory, means, metric):
    text = HEAD + "".join(
        f"{name},mine,{metric},{mean},0.{number + 1}\n"
        for number, (name, mean) in enumerate(means.items())
    )
    table = read_published(written(tmp_path_factory.mktemp("published"), text))
    best, leaders = table.best("mine", metric, SEVEN[metric])
    top = (min if SEVEN[metric].best == "smallest" else max)(means.values())
    assert (best.mean, set(leaders)) == (top, {name for name, mean in means.items() if mean == top})
    assert best.std == min(table.figures["mine", metric, name].std for name in leaders)
    assert {key[2] for key, cell in table.figures.items() if cell.bold} == set(leaders)
    assert table.best("mine", "other", Metric("Other", "largest")) is None


def test_the_papers_table_is_the_one_that_ships():
    assert paper_table().figures == paper_figures()
    assert (paper_table().name, paper_table().short) == ("paper", "paper")
