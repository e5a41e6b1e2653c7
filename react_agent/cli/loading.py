"""Which tools a command works with: the built-in ones that the options name, and those of the user's own modules."""

import argparse
import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from react_agent import demo
from react_agent.errors import ConfigError
from react_agent.registry import Tool, ToolRegistry
from react_agent.tools.calculator import calculator_tools
from react_agent.tools.documents import document_tools
from react_agent.tools.files import file_tools
from react_agent.tools.sqlite import sqlite_tools
from react_agent.tools.stock import stock_tools
from react_agent.tools.weather import weather_tools

# Which option brings a tool of ours.
OPTION_OF = {name: option for option, names in (
    ("--db FILE (or --demo)", ("sql_query", "sql_tables")), ("--docs FOLDER (or --demo)", ("grep_docs", "read_doc", "list_docs")),
    ("--files FOLDER", ("list_dir", "read_file", "write_file")), ("--stock FILE", ("lookup_stock",)),
    ("--weather", ("search_location", "get_current_weather")),
) for name in names}  # fmt: skip


def add_tool_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tools", "what the model may use; the calculator is always there")
    group.add_argument("--db", type=Path, metavar="FILE", help="an SQLite database, read-only")
    group.add_argument("--hide", action="append", default=[], metavar="TABLE[.COLUMN]", help="keep this of the database from the model")
    group.add_argument("--docs", type=Path, metavar="FOLDER", help="a folder of text documents to search and read")
    group.add_argument("--files", type=Path, metavar="FOLDER", help="a folder to list, read and write in; writing asks")
    group.add_argument("--stock", type=Path, metavar="FILE", help="a catalogue of products (CSV or JSON)")
    group.add_argument("--weather", action="store_true", help="places and their current weather from Open-Meteo")
    group.add_argument("--tools", action="append", default=[], metavar="FILE.py|MODULE", help="every @tool of your own module")
    group.add_argument("--approve", action="append", default=[], metavar="TOOL",
                       help="let this tool with side effects run unasked, until text from outside has come in")  # fmt: skip
    parser.set_defaults(demo=False)
    group.add_argument("--no-calculator", action="store_true", help="leave the calculator out")


def tools_from(args: argparse.Namespace) -> ToolRegistry:
    """The registry that the options of add_tool_options describe, with --demo where a command has it; raises ConfigError."""
    if args.demo and not (args.db and args.docs):
        data = demo.build(demo.demo_folder())
        args.db, args.docs = args.db or data.db, args.docs or data.docs
    tools: list[Tool] = [] if args.no_calculator else list(calculator_tools())
    if args.hide and args.db is None:
        raise ConfigError("--hide needs --db: it names what of the database the model must not see")
    if args.db is not None:
        tools += sqlite_tools(args.db, hide=args.hide)
    if args.docs is not None:
        tools += document_tools(args.docs)
    if args.files is not None:
        tools += file_tools(args.files)
    if args.stock is not None:
        tools += stock_tools(args.stock)
    if args.weather:
        tools += weather_tools()
    for spec in args.tools:
        tools += load_tools(spec)
    registry = ToolRegistry(tools)
    for name in args.approve:
        if name not in registry:
            raise ConfigError(f"--approve {name}: there is no such tool; there are: {', '.join(registry.names) or 'none'}")
    return registry


def load_tools(spec: str) -> list[Tool]:
    """Every Tool in the namespace of a module or a .py file, in the order of definition; raises ConfigError."""
    module = load_module(spec)
    own = {id(value): value for value in vars(module).values() if isinstance(value, Tool) and not _built_in(value)}
    if not own:
        raise ConfigError(f"{spec} has no tools; write @tool (from react_agent import tool) above a function")
    return list(own.values())


def load_module(spec: str) -> ModuleType:
    """The user's own module, by its name or as a .py file; raises ConfigError."""
    return _from_file(Path(spec)) if spec.endswith(".py") else _from_name(spec)


def _built_in(tool: Tool) -> bool:
    return (getattr(tool.function, "__module__", None) or "").split(".")[0] == "react_agent"


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigError(f"there is no file {path}")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)  # for the modules beside it; last, so that none of them hides an installed one
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_{len(sys.modules)}"
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ConfigError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module  # dataclasses and string annotations look their module up
    try:
        found.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's code runs here for the first time; whatever it does is told with its line
        del sys.modules[name]
        raise ConfigError(_fault(str(path), error)) from error
    return module


def _from_name(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ConfigError(f"there is no module {name!r}; name a module that Python finds, or a file that ends in .py") from None
        raise ConfigError(_fault(name, error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # as above
        raise ConfigError(_fault(name, error)) from error


def _fault(spec: str, error: BaseException) -> str:
    """Where a module stopped loading and why: the last line of its own, not one of the libraries it calls."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{spec} is not valid Python: {error.filename}, line {error.lineno}: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    place = Path(spec).resolve()
    own = [frame for frame in frames if Path(frame.filename).stem == spec or Path(frame.filename).resolve() == place] or frames
    here = [frame for frame in own if frame.filename != __file__]
    where = f"{here[-1].filename}, line {here[-1].lineno}" if here else spec
    return f"{spec} cannot be loaded: {where}: {type(error).__name__}: {error}"
