"""docs/endpoints.md says what is there."""

import re
import tomllib

import pytest
from make_docs import ROOT, cli_reference

from react_agent.endpoints.generic import GenericEndpoint
from react_agent.endpoints.generic_file import Places, read_generic
from react_agent.endpoints.ollama import LEAST_WINDOW
from react_agent.endpoints.open_local import PORTS
from react_agent.endpoints.open_spec import APIS
from react_agent.endpoints.templates import TEMPLATES

TEXT = (ROOT / "docs" / "endpoints.md").read_text("utf-8")


@pytest.mark.parametrize("name", [*APIS, "generic", "command"])
def test_every_family_has_a_section_and_a_line(name):
    assert f"\n### {name}\n" in TEXT
    assert re.search(rf"^\| `{name}:", TEXT, re.MULTILINE)


def test_the_described_api_is_one(tmp_path):
    example = re.search(r"```toml\n(.*?)```", TEXT, re.DOTALL)[1]
    file = tmp_path / "house.toml"
    file.write_text(example, "utf-8")
    api = read_generic(file, {"HOUSE_KEY": "secret"})
    assert GenericEndpoint(api).context_window == 8192
    used = set(tomllib.loads(example)["reply"]) | set(api.stream.__slots__)
    assert used <= set(Places.__slots__)
    for name in Places.__slots__:
        assert re.search(rf"\b{name}\b", TEXT), name


def test_every_template_is_listed():
    assert re.findall(r"^\| `(\w+)` \| ", TEXT.partition("## Prompt templates")[2], re.MULTILINE) == ["auto", *TEMPLATES]


def test_options_exist_and_numbers_are_right():
    known = set(re.findall(r"--[a-z][a-z-]+", cli_reference()))
    assert {option for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT) if option not in known} == {"--fast"}  # of a program
    for number in (*PORTS, LEAST_WINDOW):
        assert str(number) in TEXT
