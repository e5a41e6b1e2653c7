"""react-agent model: list, pull, find and remove the models that run on this machine."""

import argparse
import json
from pathlib import Path
from typing import Any

from react_agent.cli import output
from react_agent.cli.fetching import progress_bar
from react_agent.errors import ConfigError
from react_agent.local import CACHE_VARIABLE, CATALOGUE, DEFAULT_MODEL, Cache, Model, cache_folder, fetch, find
from react_agent.local_cache import size_of

STATES = {"cached": "in the cache", "partial": "partly downloaded", "absent": "not downloaded"}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    about = "the models that run on this machine: list, pull, path, remove"
    parser = commands.add_parser("model", help=about, description=f"Manage {about}.")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    listing = _action(actions, "list", run_list, "show each model's size, licence and whether it is here")
    listing.add_argument("--json", action="store_true", help="as a JSON array")
    pull = _action(actions, "pull", run_pull, "download a model, or read one that is here in full and check it")
    pull.add_argument("name", nargs="?", default=DEFAULT_MODEL, help=f"default: {DEFAULT_MODEL}")
    pull.add_argument("--json", action="store_true", help="as a JSON object")
    path = _action(actions, "path", run_path, "print where a downloaded model lies")
    path.add_argument("name", nargs="?", default=DEFAULT_MODEL, help=f"default: {DEFAULT_MODEL}")
    remove = _action(actions, "remove", run_remove, "delete a model and what an interrupted download left of it")
    remove.add_argument("name", nargs="+")


def _action(actions: Any, name: str, run: Any, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help=f"default: {CACHE_VARIABLE}, else the user's cache folder")
    parser.set_defaults(run=run)
    return parser


def run_list(args: argparse.Namespace) -> int:
    store = _store(args)
    if args.json:
        output.result(json.dumps([_described(model, store) for model in CATALOGUE.values()], indent=2))
        return 0
    rows = [(m.name, _mb(m.bytes), m.licence, STATES[store.state(m)], m.about) for m in CATALOGUE.values()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, size, *rest in rows:
        cells = [name.ljust(widths[0]), size.rjust(widths[1]), *(cell.ljust(width) for cell, width in zip(rest, widths[2:], strict=True))]
        output.result("  ".join(cells).rstrip())
    output.say(f"cache: {store.models}")
    return 0


def run_pull(args: argparse.Namespace) -> int:
    model, store = find(args.name), _store(args)
    with progress_bar(model.name) as progress:
        file = fetch(model, cache=store.root, progress=progress, recheck=True)
    output.result(json.dumps(_described(model, store)) if args.json else str(file))
    return 0


def run_path(args: argparse.Namespace) -> int:
    model, store = find(args.name), _store(args)
    if store.state(model) != "cached":
        output.fail(f"{model.name} is not in the cache {store.models}", f"Get it with: react-agent model pull {model.name}")
        return 1
    output.result(str(store.file(model)))
    return 0


def run_remove(args: argparse.Namespace) -> int:
    models, store = [find(name) for name in args.name], _store(args)

    def busy() -> None:
        raise ConfigError("a model is being downloaded to this cache; try again when that has ended")

    try:
        with store.writing(busy):
            for model in models:
                freed = store.remove(model)
                output.say(f"{model.name}: {f'removed, {_mb(freed)} freed' if freed else 'not in the cache, nothing to free'}")
    except OSError as error:
        raise ConfigError(f"cannot change the cache {store.root}: {error}") from error
    return 0


def _store(args: argparse.Namespace) -> Cache:
    return Cache(args.cache or cache_folder())


def _described(model: Model, store: Cache) -> dict[str, Any]:
    return {
        "name": model.name, "about": model.about, "licence": model.licence, "bytes": model.bytes, "sha256": model.sha256,
        "state": store.state(model), "path": str(store.file(model)), "partial_bytes": size_of(store.partial(model)),
    }  # fmt: skip


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
