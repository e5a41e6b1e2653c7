"""Serving a model: the real child process around a stand-in for xllamacpp that does what the model file's content says."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
import requests

from react_agent.errors import ConfigError, EndpointError
from react_agent.local import serve
from react_agent.local_cores import usable_cores

STAND_IN = '''
import http.server, json, os, pathlib, signal, threading, time
from types import SimpleNamespace

class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(model=SimpleNamespace(path=""), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace(), cors_origins="*")

class Server:
    def __init__(self, params):
        os.write(1, b"noise on standard output\\n")
        os.write(2, b"0.00.001.002 W noise on standard error\\n")
        word = pathlib.Path(params.model.path).read_text().split()[1]
        if word == "damaged":
            os.write(2, b"0.00.022.415 E llama_model_load: error loading model: tensor is missing\\n0.00.022.5 E more: of it\\n")
            raise RuntimeError("Failed to init server")
        if word == "unexplained":
            raise RuntimeError("Failed to init server")
        if word == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "exits":
            os._exit(7)
        if word == "endless":
            pathlib.Path(params.model.path).with_suffix(".pid").write_text(str(os.getpid()))
            time.sleep(60)
        said = json.dumps(vars(params), default=lambda value: sorted(value) if isinstance(value, set) else vars(value)).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(said)
            def log_message(self, *args):
                os.write(2, b"0.00.3 E asked\\n")

        http_server = http.server.ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        threading.Thread(target=http_server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{http_server.server_port}"
'''


@pytest.fixture
def model(tmp_path, monkeypatch):
    """model("word") is a model file that makes the stand-in behave so."""
    (tmp_path / "xllamacpp.py").write_text(STAND_IN, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def make(word):
        file = tmp_path / "some-model.gguf"
        file.write_text(f"GGUF {word}")
        return file

    return make


def ended(url):
    """Whether a server stops listening within the patience of a slow machine. (Its process may stay a zombie in a container.)"""
    for _ in range(2000):
        try:
            requests.get(url, timeout=20)
        except requests.ConnectionError:
            return True
        time.sleep(0.01)
    return False


def test_what_llama_cpp_is_told(model, capfd):
    file = model("good")
    with serve(file, context_window=4096, threads=3, parallel=2) as server:
        assert server.base_url.startswith("http://127.0.0.1:") and server.base_url.endswith("/v1") and server.alive
        said = requests.get(f"{server.base_url}/anything", timeout=20).json()
    assert said == {
        "model": {"path": str(file)}, "model_alias": ["some-model"], "n_ctx": 8192, "n_parallel": 2, "port": 0,
        "cpuparams": {"n_threads": 3}, "cpuparams_batch": {"n_threads": 3}, "use_jinja": True, "verbosity": 1, "cors_origins": "",
    }  # fmt: skip
    assert not server.alive
    assert server.log.endswith("E asked\n") and "noise on standard error" in server.log
    assert capfd.readouterr() == ("", "")  # nothing reaches the terminal
    server.close()
    assert ended(server.base_url)


def test_threads_are_the_cores_by_default(model):
    with serve(model("good")) as server:
        assert requests.get(server.base_url, timeout=20).json()["cpuparams"] == {"n_threads": usable_cores()}


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("damaged", "llama_model_load: error loading model: tensor is missing"),
        ("unexplained", "RuntimeError: Failed to init server"),
        ("killed", "its process was ended by SIGKILL (out of memory?)"),
        ("exits", "its process ended with code 7"),
    ],
)
def test_a_model_that_cannot_be_loaded_says_why(model, word, reason, capfd):
    with pytest.raises(EndpointError) as caught:
        serve(model(word))
    assert caught.value.kind == "connection" and caught.value.message == f"llama.cpp could not load the model: {reason}"
    assert caught.value.hint.startswith("Is the file whole")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"context_window": 0}, "context_window must be at least 1, not 0"),
        ({"parallel": -1}, "parallel must be at least 1, not -1"),
        ({"path": Path("nowhere.gguf")}, "there is no model file nowhere.gguf"),
    ],
)
def test_settings_are_checked_first(model, arguments, message):
    with pytest.raises(ConfigError, match=f"^{message}$"):
        serve(**{"path": model("good")} | arguments)


def test_without_the_extra_it_says_how_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=r"needs the package xllamacpp: pip install 'react-agent\[local\]'$"):
        serve(model("good"))


def test_ctrl_c_while_loading_ends_the_server(model):
    file = model("endless")
    pid_file = file.with_suffix(".pid")
    os.mkfifo(pid_file)
    pids = []

    def press():
        pids.append(int(pid_file.read_text()))  # waits until the stand-in has begun to load
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        serve(file)
    thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.killpg(0, 2)", "sys.exit(3)", "del server"])
def test_the_server_ends_with_its_parent_however_that_ends(model, end):
    """Also when Ctrl-C goes to the whole group, when nothing was closed, and when the server was only forgotten."""
    code = f"""
        import os, sys
        from react_agent.local import serve
        server = serve({str(model("good"))!r})
        print(server.base_url, flush=True)
        {end}
    """
    parent = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, start_new_session=True
    )
    assert ended(parent.stdout.strip())
    assert "KeyboardInterrupt" in parent.stderr if "killpg" in end else parent.stderr == ""


@pytest.mark.parametrize(
    ("siblings", "files", "cores"),
    [
        (["0,2", "1,3", "0,2", "1,3"], {}, 2),
        (["0", "1", "2", "3"], {}, 4),
        (["0-3"] * 4, {}, 1),
        ([], {}, 2),  # nothing known: half of the logical ones
        (["0", "1", "2", "3"], {"cpu.max": "max 100000"}, 4),
        (["0", "1", "2", "3"], {"cpu.max": "250000 100000"}, 2),
        (["0", "1", "2", "3"], {"cpu.max": "50000 100000"}, 1),
        (["0", "1", "2", "3"], {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        (["0", "1", "2", "3"], {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 4),
        (["0", "1", "2", "3"], {"cpu.max": "rubbish"}, 4),
    ],
)
def test_cores(tmp_path, monkeypatch, siblings, files, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    for number, text in enumerate(siblings):
        file = tmp_path / f"devices/system/cpu/cpu{number}/topology/thread_siblings_list"
        file.parent.mkdir(parents=True)
        file.write_text(text + "\n")
    for name, text in files.items():
        file = tmp_path / "fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    assert usable_cores(tmp_path) == cores
