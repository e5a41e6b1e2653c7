"""The real models on this machine: fetched if they are not here, served, and asked once."""

import pytest
import requests

from react_agent.folders import cache_folder
from react_agent.local import DEFAULT_MODEL, fetch, serve

pytestmark = pytest.mark.live
CACHE = cache_folder()  # the user's own, before the tests move it away


@pytest.mark.parametrize(("name", "word"), [("smollm2-135m", ""), (DEFAULT_MODEL, "paris")])
def test_a_served_model_answers(name, word):
    with serve(fetch(name, cache=CACHE), context_window=2048) as server:
        question = [{"role": "user", "content": "What is the capital of France? Answer in one word."}]
        response = requests.post(
            f"{server.base_url}/chat/completions", json={"messages": question, "max_tokens": 16, "temperature": 0}, timeout=120
        )
        assert response.status_code == 200, server.log
        body = response.json()
        assert word in body["choices"][0]["message"]["content"].lower() and body["choices"][0]["message"]["content"].strip()
        assert body["choices"][0]["finish_reason"] in ("stop", "length") and body["usage"]["completion_tokens"] >= 1
        assert requests.get(f"{server.base_url.removesuffix('/v1')}/props", timeout=20).json()["total_slots"] == 1
        assert "Access-Control-Allow-Origin" not in response.headers or response.headers["Access-Control-Allow-Origin"] == ""
        assert server.log == ""
    assert not server.alive


def test_a_server_that_is_closed_while_it_writes_ends_at_once():
    server = serve(fetch("smollm2-135m", cache=CACHE), context_window=2048)
    story = {"prompt": "Once upon a time", "max_tokens": 1500, "stream": True, "ignore_eos": True}
    with requests.post(f"{server.base_url}/completions", json=story, stream=True, timeout=60) as response:
        next(response.iter_lines())
        server.close()
    assert not server.alive
