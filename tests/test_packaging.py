"""The prompts are found through plain paths in a wheel, in an editable install and in a bare checkout."""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ASK = "import react_agent.prompt as p; print(p.prompts_folder()); print(p.load('zh').name)"
SHIPPED = sorted(path.relative_to(ROOT / "prompts").as_posix() for path in (ROOT / "prompts").rglob("*.md"))


def asked(python, cwd, **env):
    """What a fresh process says of its prompts folder, as a path."""
    done = subprocess.run([python, "-c", ASK], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=True)
    folder, name = done.stdout.split()
    assert name.startswith("zh/")
    return Path(folder)


def test_a_bare_checkout(tmp_path):
    assert asked(sys.executable, tmp_path, PYTHONPATH=str(ROOT)) == ROOT / "prompts"


LAY_OUT = """
import sys, setuptools
distribution = setuptools.Distribution({"script_name": "setup.py"})
distribution.parse_config_files(["setup.cfg"])
command = distribution.get_command_obj("build_py")
command.build_lib, command.compile = sys.argv[1], False
command.ensure_finalized()
command.run()
"""


@pytest.mark.skipif(importlib.util.find_spec("setuptools") is None, reason="setuptools lays out what a wheel holds")
def test_what_goes_into_a_wheel(tmp_path):
    """Asked of setuptools in a process of its own, since it does not like a distutils that somebody has imported before it."""
    subprocess.run([sys.executable, "-c", LAY_OUT, str(tmp_path / "lib")], cwd=ROOT, check=True, capture_output=True)
    package = tmp_path / "lib" / "react_agent"
    assert sorted(path.relative_to(package / "prompts").as_posix() for path in (package / "prompts").rglob("*.md")) == SHIPPED
    files = {path.relative_to(ROOT / "react_agent") for path in (ROOT / "react_agent").rglob("*") if "__pycache__" not in path.parts}
    assert [str(name) for name in sorted(files) if not (package / name).exists()] == []
    assert asked(sys.executable, tmp_path, PYTHONPATH=str(tmp_path / "lib")) == package / "prompts"


@pytest.mark.slow
def test_an_editable_install(tmp_path):
    copy = tmp_path / "repo"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "tests", "*.egg-info", "build"))
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-e", str(copy)], check=True, capture_output=True)
    assert asked(python, tmp_path) == copy / "prompts"
