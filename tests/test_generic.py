"""The generic adapter: a description is read with every mistake named, and used for what it says."""

import json

import pytest
from fake_server import Answer, FakeServer, answer
from families import HELLO

from react_agent.endpoints.generic import GenericEndpoint
from react_agent.endpoints.generic_file import read_generic
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Usage

FILE = """
url = "{url}/v2/generate"
stream_url = "{url}/v2/stream"
model = "house-7b"
context_window = 4096

[headers]
Authorization = "Bearer ${{HOUSE_KEY}}"
X-Team = "a"

[message]
role = "author"
content = "text"
assistant = "bot"

[body]
model = "{{model}}"
dialogue = "{{messages}}"
options = {{ max = "{{max_output_tokens}}", temperature = "{{temperature}}", seed = "{{seed}}", stops = ["{{stop}}", "</x>"] }}
note = "for {{model}}, cap {{max_output_tokens}}"
live = "{{stream}}"

[reply]
text = "output.*.text"
reason = "meta.why"
input_tokens = "meta.in"
output_tokens = "meta.out"

[stream]
text = "piece"
reason = "why"
done = "over"

[reasons]
FULL = "length"
enough = "stop"
"""
ENV = {"HOUSE_KEY": "house-secret-key"}
WHOLE = {"output": [{"text": "a"}, {"text": "b"}, {}], "meta": {"why": "full", "in": 12, "out": 3}}


@pytest.fixture
def described(tmp_path):
    def write(text, env=ENV, url="http://127.0.0.1:1"):
        file = tmp_path / "house.toml"
        file.write_text(text.replace("{url}", url).replace("{{", "{").replace("}}", "}"), "utf-8")
        return read_generic(file, env)

    return write


def test_what_is_sent(described):
    with FakeServer([answer(200, WHOLE)]) as server:
        made = GenericEndpoint(described(FILE, url=server.url), stream=False, seed=4)
        completion = made.complete(HELLO)
    [seen] = server.requests
    assert (seen.path, seen.headers["authorization"], seen.headers["x-team"]) == ("/v2/generate", "Bearer house-secret-key", "a")
    assert seen.json == {
        "model": "house-7b", "dialogue": [{"author": "system", "text": "be brief"}, {"author": "user", "text": "hello"}],
        "options": {"max": 512, "temperature": 0.0, "seed": 4, "stops": ["</x>"]}, "note": "for house-7b, cap 512", "live": False,
    }  # fmt: skip
    assert (completion.text, completion.finish_reason, completion.usage) == ("ab", "length", Usage(12, 3))
    assert (made.model, made.context_window) == ("house-7b", 4096)


def test_what_has_no_value_is_left_out(described):
    with FakeServer([answer(200, WHOLE)]) as server:
        GenericEndpoint(described(FILE, url=server.url), model="other", stream=False, temperature=None).complete(HELLO)
    assert server.requests[0].json["options"] == {"max": 512, "stops": ["</x>"]}
    assert server.requests[0].json["model"] == "other"


def test_streams(described):
    pieces = [{"piece": "a"}, {"beat": 1}, {"piece": "b"}, {"piece": "", "why": "enough", "over": True}]
    body = [b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces]
    with FakeServer([Answer(200, {}, body, "chunked")]) as server:
        completion = GenericEndpoint(described(FILE, url=server.url)).complete(HELLO)
    assert (server.requests[0].path, server.requests[0].json["live"]) == ("/v2/stream", True)
    assert (completion.text, completion.finish_reason, completion.usage.estimated) == ("ab", "stop", True)


PROMPT_FILE = """
url = "{url}"
template = "gemma"
framing = "ndjson"
[body]
q = "<bos>{{prompt}}"
[reply]
text = "message"
"""


def test_a_prompt_and_a_text_where_others_have_an_error(described):
    """{"message": "..."} is an error of most APIs; here the file says that it is the text."""
    with FakeServer([answer(200, {"message": "hi"}), answer(500, {"message": "out of memory"}), answer(200, {"error": "no"})]) as server:
        made = GenericEndpoint(described(PROMPT_FILE, url=server.url), max_retries=0)
        assert made.complete(HELLO).text == "hi"
        for _ in range(2):
            with pytest.raises(EndpointError):
                made.complete(HELLO)
    assert server.requests[0].json == {"q": "<bos><start_of_turn>user\nbe brief\n\nhello<end_of_turn>\n<start_of_turn>model\n"}


def test_the_key_is_never_shown(described):
    api = described(FILE)
    made = GenericEndpoint(api)
    assert "house-secret-key" not in repr(api) + repr(made) + json.dumps(made.describe())
    with FakeServer([answer(401, {"error": "bad key house-secret-key"})]) as server, pytest.raises(EndpointError) as caught:
        GenericEndpoint(described(FILE, url=server.url), stream=False).complete(HELLO)
    assert "house-secret-key" not in str(caught.value)


MISTAKES = [
    ("url = ", "is not TOML"),
    (FILE.replace('model = "house-7b"', 'modell = "house-7b"'), "line 4: modell: is not known (did you mean model?)"),
    (FILE.replace('url = "{url}/v2/generate"', ""), "url: is missing"),
    (FILE.replace('url = "{url}/v2/generate"', "url = 3"), "line 2: url: must be a text in quotes, not 3"),
    (FILE.replace("HOUSE_KEY", "HOUSE_KEI"), "line 8: [headers] Authorization: the environment has no HOUSE_KEI"),
    (FILE.replace("{{temperature}}", "{{temprature}}"),
     "line 19: [body] temperature: there is no placeholder {temprature} (did you mean temperature?)"),
    (FILE.replace("{{messages}}", "hello"), "line 16: [body]: the question is nowhere"),
    (FILE.replace("[body]", "[boddy]"), "boddy: is not known (did you mean body?)"),
    ("url = 'http://h'\n[reply]\ntext = 'x'\n", "body: the table [body] is missing"),
    ("url = 'http://h'\nbody = 3\n[reply]\ntext = 'x'\n", "line 2: body: must be a table: [body]"),
    (FILE.replace('text = "output.*.text"', ""), "line 23: [reply]: text is missing"),
    (FILE.replace('why = "x"', "").replace('done = "over"', 'dune = "over"'), "[stream] dune: is not known (did you mean done?)"),
    (FILE.replace('live = "{{stream}}"', "").replace('stream_url = "{url}/v2/stream"', ""), "[stream]: streams are never asked for"),
    (FILE.replace('FULL = "length"', 'FULL = "cut"'), "[reasons] FULL: must be one of stop, length, content_filter, unknown, not 'cut'"),
    (FILE.replace("context_window = 4096", "context_window = '4k'"), "line 5: context_window: must be a number of tokens, not '4k'"),
    (FILE.replace("context_window = 4096", "framing = 'xml'"), "line 5: framing: must be one of sse, ndjson, not 'xml'"),
    (FILE.replace('role = "author"', 'role = ""'), "[message] role: is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_mistakes_are_named_with_their_line(described, text, said):
    with pytest.raises(ConfigError) as caught:
        described(text)
    assert said in str(caught.value)
    assert "house.toml" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot read the description"):
        read_generic(tmp_path / "none.toml", {})
