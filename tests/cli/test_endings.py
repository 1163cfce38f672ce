"""How every command ends when a signal comes or its output takes no more: exit codes, last words, nothing half-written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import skcamel
from skcamel.cli.root import run
from study_methods import made
from tables import table

TESTS = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join([str(Path(skcamel.__file__).parents[1]), str(TESTS)])
}
SKCAMEL = [sys.executable, "-m", "skcamel"]
# Programs that say READY and wait, each at another moment of a command, which is the rest of the
# arguments
WAIT = (
    "import sys, time\nfrom skcamel.cli import main\ndef wait(*_, **__):\n    print('READY',"
    " flush=True)\n    time.sleep(60)\n"
)
MOMENTS = {
    "importing": (
        "import builtins\nbefore = builtins.__import__\ndef late(name, *rest):\n    return wait()"
        " if name == 'skcamel.data.sources' else before(name, *rest)\nbuiltins.__import__ = late\n"
    ),
    "importing the root": (
        "class Late:\n    def find_spec(name, *_):\n        if name == 'skcamel.cli.root': wait()\n"
        "sys.meta_path.insert(0, Late)\n"
    ),
    "fitting": (
        "import skcamel.camel.classifier_cv\nskcamel.camel.classifier_cv.CamelClassifierCV.fit ="
        " wait\n"
    ),
    "writing": (
        "import numpy\ndef half(file, *_, **__):\n    file.write(b'half')\n    wait()\nnumpy.savez"
        " = half\n"
    ),
    "telling": "import skcamel.cli.fit\nskcamel.cli.fit._print = wait\n",
    "swallowed": (
        "import skcamel.camel.classifier_cv\n"
        "def deaf(*_, **__):\n    try: wait()\n    except BaseException: raise ImportError('odd')\n"
        "skcamel.camel.classifier_cv.CamelClassifierCV.fit = deaf\n"
    ),
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and devices of Unix")


@pytest.fixture(autouse=True)
def signals_are_heard():
    """Whoever runs the tests in the background, or under nohup, has their processes ignore some, and children inherit that."""
    deaf = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_IGN
    ]
    for number in deaf:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in deaf:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def folder(tmp_path):
    """A folder with a table to learn from."""
    table(tmp_path / "mine.csv", range(40))
    return tmp_path


def start(arguments, folder, **options):
    return subprocess.Popen(
        arguments, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, **options
    )


def interrupted(running, number):
    """What it printed until a signal ended it.

    The signal comes a second time where the first found Python about to wait in a system call:
    Python looks for signals between
    its instructions and where a call is interrupted, and one that comes in the microseconds between
    the two is seen when the call
    returns. The two then count as one. Its end is waited for, not that of its streams, which
    another process may hold.
    """
    running.send_signal(number)
    try:
        running.wait(10)
    except subprocess.TimeoutExpired:
        running.send_signal(number)
        running.wait(45)
    return what_is_left(running.stdout), what_is_left(running.stderr)


def what_is_left(stream):
    os.set_blocking(stream.fileno(), False)
    try:
        return os.read(stream.fileno(), 2**16).decode()
    except BlockingIOError:
        return ""


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_exits_130_with_one_line_at_every_moment_of_a_fit(folder, moment):
    program = f"{WAIT}{MOMENTS[moment]}sys.exit(main())"
    command = [sys.executable, "-c", program, "fit", "mine.csv", "--labels", "2", "-o", "m.skcamel"]
    with start(command, folder, stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == "READY\n"
        _, told = interrupted(running, signal.SIGINT)
    assert (running.returncode, told) == (130, "Interrupted.\n")
    left = ["m.skcamel", "mine.csv"] if moment == "telling" else ["mine.csv"]
    assert sorted(os.listdir(folder)) == left


def test_a_signal_that_comes_inside_a_destructor_is_not_lost(folder):
    program = (
        "import os, signal, sys, time\nimport skcamel.camel.classifier_cv\nfrom skcamel.cli import"
        " main\nclass Last:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGINT)\n "
        "       time.sleep(0.01)\ndef fit(*_):\n    Last()\n   "
        " time.sleep(60)\nskcamel.camel.classifier_cv.CamelClassifierCV.fit = fit\nsys.exit(main())"
    )
    with start(
        [sys.executable, "-c", program, "fit", "mine.csv", "--labels", "2"], folder
    ) as running:
        _, told = running.communicate(timeout=50)
    assert (running.returncode, told) == (130, "Interrupted.\n")


@pytest.mark.parametrize(
    ("number", "command"),
    [
        (signal.SIGINT, ["fit", "pipe.csv", "--labels", "2"]),
        (signal.SIGINT, ["datasets", "check", "pipe.csv", "--labels", "2"]),
        (
            signal.SIGINT,
            ["study", "--datasets", "pipe.csv", "--labels", "2", "--methods", "br", "-o", "out"],
        ),
        (signal.SIGHUP, ["evaluate", "--truth", "mine.csv", "--predictions", "pipe.csv"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value.name,
)
def test_signals_while_a_file_is_read(folder, number, command):
    os.mkfifo(folder / "pipe.csv")
    with (
        start([*SKCAMEL, *command], folder, stdout=subprocess.PIPE) as running,
        (folder / "pipe.csv").open("w") as pipe,  # opened when the command has begun to read
    ):
        pipe.write("x,y,")
        pipe.flush()
        out, told = interrupted(running, number)
    assert (running.returncode, out, told) == (128 + number, "", "Interrupted.\n")
    assert sorted(os.listdir(folder)) == ["mine.csv", "pipe.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_a_study_alone_ends_its_workers_too(tmp_path, number):
    from skcamel.data import write_dataset

    write_dataset(made(), tmp_path / "made.arff")
    options = [
        "--datasets",
        "made.arff",
        "--methods",
        "slow=study_methods:Mean('slow', 0.3)",
        "--n-folds",
        "12",
        "-o",
        "out",
        "--n-jobs",
        "2",
    ]
    with start([*SKCAMEL, "study", *options], tmp_path) as running:
        first = running.stderr.readline()
        assert first.startswith("1/12")
        running.send_signal(number)
        _, told = running.communicate(
            timeout=60
        )  # ends when no process holds the other end of the pipe
    assert running.returncode == 128 + number
    assert told.endswith(
        "\nStopped. Finished units are kept in out; run the same command again to do the rest.\n"
    )
    assert "Traceback" not in told


def test_ignored_signals_stay_ignored(folder):
    program = (
        "import os, signal\nfrom skcamel.cli import output\noutput.watch()\nos.kill(os.getpid(),"
        " signal.SIGINT)\nprint(0)"
    )
    line = f"trap \"\" INT; '{sys.executable}' -c '{program}'"
    result = subprocess.run(
        ["/bin/sh", "-c", line], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "0\n", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["--help", "datasets list", "predict m.skcamel mine.csv"])
def test_output_that_takes_no_more_is_one_sentence_or_none(folder, command, unbuffered):
    if command.startswith("predict"):
        assert (
            run(["fit", str(folder / "mine.csv"), "--labels", "2", "-o", str(folder / "m.skcamel")])
            == 0
        )

    def ended(redirection):
        line = f"'{sys.executable}' -m skcamel {command} {redirection}"
        environment = ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered}
        result = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        notes = [text for text in result.stderr.splitlines() if not text.startswith("Note: ")]
        return result.returncode, notes

    assert ended("> /dev/full") == (1, ["Error: standard output: No space left on device."])
    assert ended("2> /dev/full > /dev/null") == (0, [])
    if command == "--help":
        assert ended(">&-") == (1, ["Error: standard output: It is closed."])
        assert ended("2>&- > /dev/null") == (0, [])
        assert ended("2>&- >&-")[0] == 1
        assert ended("| true") == (0, [])


def test_the_code_says_that_the_reader_went_away(folder):
    with start([*SKCAMEL, "datasets", "list"], folder, stdout=subprocess.PIPE) as running:
        running.stdout.close()
        assert (running.wait(60), running.stderr.read()) == (141, "")


def test_a_closed_stream_is_not_given_to_the_model_file(folder):
    """Else what C prints would go into it."""
    probe = "import os, sys, numpy\nbefore = numpy.savez\ndef look(file, *rest, **named):\n"
    probe += "    assert file.fileno() > 2\n    before(file, *rest, **named)\nnumpy.savez = look\n"
    program = f"{probe}from skcamel.cli import main\nsys.exit(main())"
    line = f"'{sys.executable}' -c '{program}' fit mine.csv --labels 2 -o m.skcamel <&- 2>&-"
    result = subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, check=False
    )
    assert result.returncode == 0


def test_letters_that_the_screen_lacks_are_escaped(folder):
    environment = ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    options = [
        "study",
        "--datasets",
        "mine.csv",
        "--labels",
        "2",
        "--methods",
        "br",
        "--preset",
        "quick",
        "-o",
        "out",
        "--quiet",
    ]
    shown = subprocess.run(
        [*SKCAMEL, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "mean \\xb1 std" in shown
