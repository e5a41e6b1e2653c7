"""DESIGN section 2 as a test: imports point down, and the outside world comes in at named places only."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "react_agent"
LAYERS = {
    "errors": 0, "types": 0,
    "limits": 1, "tokens": 1, "lenient_json": 1, "segments": 1, "trace": 1, "registry": 1, "folders": 1,
    "watch": 2, "parser": 2, "prompt": 2, "decision_schema": 2,
    "endpoints": 3, "transcript": 3, "tools": 3,
    "agent": 4,
    "conversation": 5, "local": 5, "playback": 5, "report": 5, "otel": 5, "doctor": 5, "demo": 5,
    "evaluate": 6,
    "cli": 7,
}  # fmt: skip
OUTSIDE = {
    "requests": {"endpoints/http.py", "tools/weather.py", "local.py"},
    "jsonschema": {"registry_arguments.py"},
}
EXTRAS = {"local": {"xllamacpp"}, "otel": {"opentelemetry"}}  # by the beginning of the file's name: loaded only with its extra
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def layer(module: str) -> int | None:
    """The layer of a path like endpoints/http.py or a dotted name like react_agent.endpoints.http; None for the package itself."""
    parts = module.removesuffix(".py").replace(".", "/").removeprefix("react_agent/").split("/")
    if parts[0] in ("__init__", "__main__", "react_agent", ""):
        return None
    for depth in range(len(parts), 0, -1):  # a file split off a module (parser_text) belongs to the module's layer
        name = "/".join(parts[:depth])
        if name in LAYERS:
            return LAYERS[name]
    stem = parts[0].split("_")
    while stem:
        if "_".join(stem) in LAYERS:
            return LAYERS["_".join(stem)]
        stem.pop()
    raise AssertionError(f"{module} has no layer: add it to LAYERS")


def imports(path: Path):
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:  # `from package import module` imports the module
                inner = PACKAGE.parent / node.module.replace(".", "/") / f"{alias.name}.py"
                yield (f"{node.module}.{alias.name}" if inner.is_file() else node.module), node


@pytest.mark.parametrize("file", FILES)
def test_imports_point_down(file):
    mine = layer(file)
    for name, node in imports(PACKAGE / file):
        if not name.startswith("react_agent") or mine is None:
            continue
        theirs = layer(name)
        if theirs is None:
            assert mine == 7, f"{file}:{node.lineno} imports the package itself"
            continue
        same_folder = file.split("/")[0] == name.split(".")[1] and file.split("/")[0] in ("endpoints", "tools", "cli")
        split_off = not same_folder and theirs == mine and file.split("/")[0].removesuffix(".py").split("_")[0] == name.split(".")[1].split("_")[0]
        layer_zero = mine == 0 and theirs == 0
        assert theirs < mine or same_folder or split_off or layer_zero, f"{file}:{node.lineno} imports {name} (layer {theirs}) from layer {mine}"


@pytest.mark.parametrize("library", OUTSIDE)
def test_libraries_are_imported_only_where_the_design_says(library):
    users = {file for file in FILES for name, _ in imports(PACKAGE / file) if name.split(".")[0] == library}
    assert users <= OUTSIDE[library]


def test_the_core_imports_nothing_else_from_outside():
    """requests and jsonschema with what they bring (urllib3 speaks through requests' errors, referencing through jsonschema's);
    an extra is imported inside the function that needs it."""
    allowed = {"react_agent", "requests", "urllib3", "jsonschema", "referencing"} | sys.stdlib_module_names
    for file in FILES:
        tree = ast.parse((PACKAGE / file).read_text("utf-8"))
        top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in top if isinstance(node, ast.ImportFrom)}
        foreign = {name.split(".")[0] for name in names} - allowed
        assert foreign <= EXTRAS.get(file.split("_")[0], set()), f"{file} imports {foreign} at its top"


def test_no_import_cycle():
    graph = {}
    for file in FILES:
        dotted = "react_agent." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        graph[dotted] = {name for name, _ in imports(PACKAGE / file) if name.startswith("react_agent") and name != dotted}
    done, path = set(), []

    def visit(module):
        if module in path:
            raise AssertionError(" -> ".join([*path[path.index(module):], module]))
        if module in done or module not in graph:
            return
        path.append(module)
        for other in sorted(graph[module]):
            visit(other)
        path.pop()
        done.add(module)

    for module in graph:
        visit(module)


def test_only_the_command_line_prints():
    for file in FILES:
        if file.startswith("cli/"):
            continue
        calls = [node.lineno for node in ast.walk(ast.parse((PACKAGE / file).read_text("utf-8")))
                 if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"]  # fmt: skip
        assert not calls, f"{file} prints at {calls}"
