"""Where a user's files go on this system, when nobody says otherwise."""

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "REACT_AGENT_CACHE"


def cache_folder() -> Path:
    """For what can be fetched or made again: REACT_AGENT_CACHE, else the platform's place for it. Not created here."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "react_agent" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "react_agent"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "react_agent"  # XDG: a relative path is to be ignored
