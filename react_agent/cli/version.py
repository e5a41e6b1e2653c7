"""`react-agent version`."""

import argparse
import platform
import sqlite3
from importlib import metadata

from react_agent.cli import output

OPTIONAL = ("rich", "xllamacpp", "opentelemetry-sdk")


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("version", help="this program's version and what it runs on")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    output.result(f"react-agent {installed('react-agent') or '(not installed)'}")
    output.result(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.system()} {platform.machine()}")
    for name in ("requests", "jsonschema", *OPTIONAL):
        output.result(f"{name} {installed(name) or '-'}")
    return 0


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
