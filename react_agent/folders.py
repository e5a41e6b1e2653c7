"""Where a user's files go on this system, when nobody says otherwise."""

import os
import sys
from pathlib import Path

from react_agent.errors import ConfigError

CACHE_VARIABLE = "REACT_AGENT_CACHE"


def home_folder(variable: str) -> Path:
    """The user's home folder; ConfigError for a user without one. variable: what names the folder that is looked for in its place."""
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError(f"this user has no home folder; set HOME, or name a folder in {variable}") from None


def cache_folder() -> Path:
    """For what can be fetched or made again: REACT_AGENT_CACHE, else the platform's place for it. Not created here."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return home_folder(CACHE_VARIABLE) / chosen[2:] if chosen.startswith("~/") else Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home_folder(CACHE_VARIABLE) / "AppData" / "Local") / "react_agent" / "Cache"
    if sys.platform == "darwin":
        return home_folder(CACHE_VARIABLE) / "Library" / "Caches" / "react_agent"
    base = os.environ.get("XDG_CACHE_HOME", "")
    absolute = os.path.isabs(base)  # XDG: a relative path is to be ignored
    return (Path(base) if absolute else home_folder(CACHE_VARIABLE) / ".cache") / "react_agent"
