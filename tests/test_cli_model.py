"""react-agent model: what it prints for people and for programs, and its exit codes."""

import argparse
import json

import pytest
from local_fakes import CONTENT, TINY, FakeHub, serving

from react_agent.cli import fetching, guarded, model
from react_agent.local import CATALOGUE, Cache, Progress


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """run("list") gives exit code, standard output and standard error; the catalogue holds the small model alone."""
    for name in list(CATALOGUE):
        monkeypatch.delitem(CATALOGUE, name)
    monkeypatch.setitem(CATALOGUE, TINY.name, TINY)
    monkeypatch.setenv("REACT_AGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # should it come to pip, it finds nothing
    with serving(FakeHub()) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)

        def run(*words):
            parser = argparse.ArgumentParser(prog="react-agent")
            model.add(parser.add_subparsers())
            code = guarded(parser.parse_args(["model", *words]))
            return code, *capsys.readouterr()

        yield run


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def test_list_shows_size_licence_and_what_is_here(run, cache):
    assert run("list") == (0, "tiny  0 MB  MIT  not downloaded  for tests\n", f"cache: {cache.models}\n")
    run("pull", "tiny")
    assert run("list")[1] == "tiny  0 MB  MIT  in the cache  for tests\n"
    cache.file(TINY).rename(cache.partial(TINY))
    assert run("list")[1] == "tiny  0 MB  MIT  partly downloaded  for tests\n"


def test_list_for_programs(run, cache):
    code, out, _ = run("list", "--json")
    assert code == 0 and json.loads(out) == [
        {
            "name": "tiny", "about": "for tests", "licence": "MIT", "bytes": len(CONTENT), "sha256": TINY.sha256,
            "state": "absent", "path": str(cache.file(TINY)), "partial_bytes": 0,
        }
    ]  # fmt: skip


def test_pull_shows_progress_in_lines_and_prints_the_path(run, cache):
    code, out, err = run("pull", "tiny")
    assert (code, out) == (0, f"{cache.file(TINY)}\n") and cache.file(TINY).read_bytes() == CONTENT
    lines = err.splitlines()
    assert lines[0] == f"tiny: downloading 0 MB (licence MIT) to {cache.models}; after Ctrl-C it goes on from there"
    assert lines[1] == "tiny: 0 of 0 MB, 0 %, from the model hub"
    assert lines[-1] == "tiny: 0 of 0 MB, 100 %, from the model hub"
    assert len(lines) == len(set(lines)) <= 22
    assert run("pull", "tiny") == (0, f"{cache.file(TINY)}\n", "")


def test_pull_for_programs(run, cache):
    code, out, _ = run("pull", "tiny", "--json")
    assert code == 0 and json.loads(out)["state"] == "cached"


def test_pull_reads_what_is_here_and_gets_a_damaged_file_again(run, cache):
    run("pull", "tiny")
    cache.file(TINY).write_bytes(CONTENT[:-1] + b"?")
    code, _, err = run("pull", "tiny")
    assert code == 0 and cache.file(TINY).read_bytes() == CONTENT
    assert err.startswith(f"tiny: {cache.file(TINY)} is damaged; fetching it again\n")


def test_path(run, cache):
    assert run("path", "tiny") == (
        1, "", f"error: tiny is not in the cache {cache.models}\nGet it with: react-agent model pull tiny\n",
    )  # fmt: skip
    run("pull", "tiny")
    assert run("path", "tiny") == (0, f"{cache.file(TINY)}\n", "")


def test_remove_says_what_it_freed(run, cache):
    run("pull", "tiny")
    cache.partial(TINY).write_bytes(b"x" * 1_900_000)
    assert run("remove", "tiny") == (0, "", "tiny: removed, 2 MB freed\n")
    assert run("remove", "tiny") == (0, "", "tiny: not in the cache, nothing to free\n")
    assert [file.name for file in cache.root.rglob("*") if file.is_file()] == [".lock"]


def test_remove_leaves_a_download_under_way_alone(run, cache):
    with cache.writing(lambda: None):
        code, _, err = run("remove", "tiny")
    assert code == 2 and err == "error: a model is being downloaded to this cache; try again when that has ended\n"


def test_a_cache_that_cannot_be_changed(run, cache):
    cache.root.write_text("in the way")
    code, out, err = run("remove", "tiny")
    assert (code, out) == (2, "") and err.startswith(f"error: cannot change the cache {cache.root}: ")


def test_another_cache(run, cache, tmp_path):
    assert run("pull", "tiny", "--cache", str(tmp_path / "other"))[1] == f"{tmp_path / 'other' / 'models' / 'tiny.gguf'}\n"
    assert not cache.root.exists()
    assert run("path", "tiny", "--cache", str(tmp_path / "other"))[0] == 0


@pytest.mark.parametrize("action", ["pull", "path", "remove"])
def test_an_unknown_model(run, action):
    assert run(action, "tinny") == (2, "", "error: there is no model 'tinny' in the catalogue; did you mean tiny?\n")


@pytest.mark.parametrize("words", [(), ("what",), ("remove",)])
def test_wrong_usage(run, words):
    with pytest.raises(SystemExit) as caught:
        run(*words)
    assert caught.value.code == 2


def test_a_terminal_gets_a_bar_and_the_notes_above_it(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    with fetching.progress_bar("tiny") as show:
        show(Progress(0, 100, "hub", "something to [say]"))
        show(Progress(40, 100, "hub"))
        show(Progress(100, 100, "packages"))
        show(Progress(100, 100, "check"))
    out, err = capsys.readouterr()
    assert out == "" and "tiny: something to [say]" in err and "tiny checking its hash" in err and "100/100 bytes" in err


def test_nothing_to_wait_for_shows_nothing(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with fetching.progress_bar("tiny"):
        pass
    assert capsys.readouterr() == ("", "")
