"""The wheel with its base dependencies alone, without the clone: demo, search, Python and the app, in a hostile folder."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.browser.served import HOST, unused_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

CLONE = Path(__file__).resolve().parents[1]
QUESTION = "Should zoos exist?"
_STARTS_WITHIN = 120
_LARGEST = 900 << 20
_ASK_SETTINGS = """
import berdseye.app
from pathlib import Path
from streamlit import config
config._main_script_path = str(Path(berdseye.app.__file__).with_name({script!r}))
options = config.get_config_options(force_reparse=True)
print([options[name].value for name in ("browser.gatherUsageStats", "client.showErrorDetails", "server.address")])
"""
_ASK_PYTHON = """
import berdseye
run = berdseye.open("workspace").run("debate", "web", "bm25")
print(berdseye.__file__)
print(run.measures("MRecall@5", labels="human>embedded").to_json(orient="records"))
"""


def _uv(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "uv", *map(str, arguments)], check=True, cwd=CLONE)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that holds the wheel and its base dependencies, as constraints.txt pins them."""
    built, environment = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("environment") / "venv"
    _uv("build", "--quiet", "--wheel", "--out-dir", built, CLONE)
    _uv("venv", "--quiet", "--python", sys.executable, environment)
    python = environment / "bin" / "python"
    [wheel] = built.glob("*.whl")
    _uv("pip", "install", "--quiet", "--python", python, "--constraint", CLONE / "constraints.txt", wheel)
    return environment / "bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder of somebody else, whose modules have the names of ours, and with settings of another Streamlit app."""
    made = tmp_path_factory.mktemp("hostile")
    (made / "evaluation").mkdir()
    for name in ("data.py", "app.py", "evaluation/__init__.py"):
        (made / name).write_text("raise SystemExit('a module of the working folder was imported')\n", encoding="utf-8")
    (made / ".streamlit").mkdir()
    settings = '[browser]\ngatherUsageStats = true\n[client]\nshowErrorDetails = "full"\n'
    (made / ".streamlit" / "config.toml").write_text(settings, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """The environment of a person who has no clone."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "BERDSEYE_"))}


@pytest.fixture(scope="module")
def demo(programs: Path, folder: Path, environment: dict[str, str]) -> Path:
    """The demo workspace, built by command."""
    subprocess.run([programs / "berdseye", "demo"], check=True, cwd=folder, env=environment, capture_output=True)
    return folder / "workspace"


def test_the_base_is_small(programs: Path) -> None:
    held = sum(path.lstat().st_size for path in programs.parent.rglob("*") if path.suffix != ".pyc")
    assert held < _LARGEST, f"{held >> 20} MB"
    assert not list(programs.parent.rglob("site-packages/torch"))


@pytest.mark.usefixtures("demo")
def test_a_question_by_command(programs: Path, folder: Path, environment: dict[str, str]) -> None:
    for pipeline in ("bm25", "dense(static)"):
        asked = [programs / "berdseye", "search", QUESTION, "--corpus", "web", "--pipeline", pipeline, "--json"]
        answer = subprocess.run(asked, check=True, cwd=folder, env=environment, capture_output=True, text=True)
        assert "zoo" in json.loads(answer.stdout)[0]["title"]


@pytest.mark.usefixtures("demo")
def test_a_measure_from_python(programs: Path, folder: Path, environment: dict[str, str]) -> None:
    asked = [programs / "python", "-c", _ASK_PYTHON]
    answer = subprocess.run(asked, check=True, cwd=folder, env=environment, capture_output=True, text=True)
    home, table = answer.stdout.splitlines()
    assert str(programs.parent) in home
    assert json.loads(table)


@pytest.mark.usefixtures("demo")
def test_what_an_extra_brings_is_asked_for_in_one_line(
    programs: Path, folder: Path, environment: dict[str, str]
) -> None:
    asked = [programs / "berdseye", "detect", "a passage", "a perspective", "--detector", "nli(a/b)"]
    answer = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, text=True)
    told = "`nli(...)` needs PyTorch and transformers. Install them: pip install 'berdseye[models]'."
    assert (answer.returncode, answer.stderr.strip()) == (2, f"berdseye: {told}")


@pytest.mark.parametrize("script", ["local.py", "team.py"])
def test_streamlit_reads_the_settings_of_the_wheel(
    script: str, programs: Path, folder: Path, environment: dict[str, str]
) -> None:
    asked = [programs / "python", "-c", _ASK_SETTINGS.format(script=script)]
    answer = subprocess.run(asked, check=True, cwd=folder, env=environment, capture_output=True, text=True)
    assert answer.stdout.strip() == "[False, 'type', '127.0.0.1']"


@pytest.fixture
def address(programs: Path, folder: Path, demo: Path, environment: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """The app of the wheel."""
    port = unused_port()
    command = [programs / "berdseye", "app", "--no-label-studio", "--port", str(port), "--workspace", demo]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        yield f"http://{HOST}:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    assert "Traceback" not in (tmp_path / "log").read_text(encoding="utf-8")


def test_the_app_answers(address: str) -> None:
    until = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < until:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=30) as answer:
                assert answer.read() == b"ok"
                return
        except OSError:  # not there yet, or too busy to answer in time
            time.sleep(0.2)
    pytest.fail("the app did not answer")
