"""Where the user's files go, for every system and every way to say otherwise."""

import sys
from pathlib import Path

import pytest

from react_agent.folders import cache_folder

HOME = Path("/home/somebody")


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, HOME / ".cache/react_agent"),
        ("linux", {"XDG_CACHE_HOME": "/var/caches"}, "/var/caches/react_agent"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, HOME / ".cache/react_agent"),
        ("darwin", {"XDG_CACHE_HOME": "/var/caches"}, HOME / "Library/Caches/react_agent"),
        ("win32", {"LOCALAPPDATA": "/data/local"}, "/data/local/react_agent/Cache"),
        ("win32", {}, HOME / "AppData/Local/react_agent/Cache"),
        ("linux", {"REACT_AGENT_CACHE": "/mine", "XDG_CACHE_HOME": "/var/caches"}, "/mine"),
        ("linux", {"REACT_AGENT_CACHE": "~/mine"}, HOME / "mine"),
        ("linux", {"REACT_AGENT_CACHE": ""}, HOME / ".cache/react_agent"),
    ],
)
def test_cache_folder(monkeypatch, platform, environment, folder):
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("REACT_AGENT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(HOME), "USERPROFILE": str(HOME), **environment}.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)
