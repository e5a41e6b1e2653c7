"""--otel: where the spans go, by the environment; and the command line with it, in a process of its own."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_server import FakeServer, answer, chat
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from spans import Recorder

from react_agent.cli import telemetry
from react_agent.errors import ConfigError
from react_agent.trace_events import RunEnded, RunStarted
from react_agent.types import Usage

ROOT = Path(__file__).parents[1]


class Foreign(SpanExporter):
    """An exporter that another package has registered."""

    def export(self, spans):
        return SpanExportResult.SUCCESS


@pytest.fixture
def registered(monkeypatch):
    """Only these exporters are installed, whatever is on this machine."""
    entries = [importlib.metadata.EntryPoint(name, f"{__name__}:Foreign", "opentelemetry_traces_exporter") for name in ("otlp_proto_http", "zipkin")]

    def entry_points(group, name):
        return importlib.metadata.EntryPoints(entries).select(group=group, name=name)

    monkeypatch.setattr(telemetry, "entry_points", entry_points)


CHOICES = [
    ({}, ["LineExporter"]),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, ["Foreign"]),
    ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, ["Foreign"]),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER": "console"}, ["LineExporter"]),
    ({"OTEL_TRACES_EXPORTER": "zipkin, console"}, ["Foreign", "LineExporter"]),
    ({"OTEL_TRACES_EXPORTER": "otlp"}, ["Foreign"]),
    ({"OTEL_TRACES_EXPORTER": "none"}, []),
    ({"OTEL_TRACES_EXPORTER": ""}, ["LineExporter"]),
]


@pytest.mark.parametrize(("environ", "expected"), CHOICES)
def test_the_environment_names_the_exporters(registered, environ, expected):
    assert [make.__name__ for make in telemetry.exporters(environ)] == expected


MISTAKES = [
    ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "pip install opentelemetry-exporter-otlp-proto-grpc"),
    ({"OTEL_TRACES_EXPORTER": "jaeger"}, "no exporter 'jaeger'"),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "carrier pigeon"},
     "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is 'carrier pigeon'; it must be one of http/protobuf, grpc"),
]  # fmt: skip


@pytest.mark.parametrize(("environ", "message"), MISTAKES)
def test_an_exporter_that_is_not_there_is_said_with_what_to_install(registered, environ, message):
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        telemetry.exporters(environ)


@pytest.mark.parametrize(("named", "service"), [(None, "react-agent"), ("shop", "shop")])
def test_the_service_has_a_name(monkeypatch, named, service):
    monkeypatch.delenv("OTEL_RESOURCE_ATTRIBUTES", raising=False)
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    if named:
        monkeypatch.setenv("OTEL_SERVICE_NAME", named)
    made = telemetry.provider({"OTEL_TRACES_EXPORTER": "none"})
    assert made.resource.attributes["service.name"] == service
    made.shutdown()


def test_a_provider_that_is_there_is_used(monkeypatch):
    """As under opentelemetry-instrument."""
    recorder, told = Recorder(), []
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: recorder.provider)
    listener = telemetry.with_spans(told.append, ("hunter-22",), {telemetry.CONTENT: "SPAN_ONLY"})
    events = (RunStarted("r", "Is it hunter-22?"), RunEnded("completed", "answer", "Yes.", 1, Usage(), 0.1))
    for event in events:
        listener(event)
    (root,) = recorder.trees()
    assert (tuple(told), "Is it [secret]?" in root.attributes["gen_ai.input.messages"]) == (events, True)


def test_without_the_sdk_the_error_says_what_to_install():
    code = "import sys; sys.modules['opentelemetry.sdk'] = None; import react_agent.cli.telemetry"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr.endswith("ConfigError: OpenTelemetry's SDK is not installed: pip install 'react-agent[otel]'\n")


def command(*words, tmp_path, lines="", **environ):
    """Run the command line in a process of its own, with nothing of this machine's OTEL_ settings."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    folders = {"REACT_AGENT_STATE": str(tmp_path / "state"), "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-W", "error", "-m", "react_agent", *words], input=lines, capture_output=True, text=True,
                          timeout=60, cwd=ROOT, env={**clean, **folders, **environ})  # fmt: skip
    return done, [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]


def test_a_run_and_its_resumption_print_their_spans(reply, tmp_path):
    file = str(tmp_path / "t.jsonl")
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    script = [chat(reply("calculator", {"expression": "2 + 40"}), usage=usage), answer(401, {"error": {"message": "no"}})]
    with FakeServer(script) as server:
        done, spans = command("--endpoint", server.url, "--model", "m", "--no-stream", "--otel", "--quiet", "--trace", file, "2 + 40?", tmp_path=tmp_path)
    assert (done.returncode, [span["name"] for span in spans]) == (3, ["chat m", "execute_tool calculator", "chat m", "invoke_agent react_agent"])
    assert "2 + 40" not in "".join(map(json.dumps, spans))
    with FakeServer([chat(reply(answer="It is 42."), usage=usage)]) as server:
        done, more = command("resume", file, "--endpoint", server.url, "--model", "m", "--no-stream", "--otel", "--quiet", tmp_path=tmp_path,
                             OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true")  # fmt: skip
    assert (done.returncode, done.stdout, [span["name"] for span in more]) == (0, "It is 42.\n", ["chat m", "invoke_agent react_agent"])
    assert more[-1]["attributes"]["react_agent.run.id"] == spans[-1]["attributes"]["react_agent.run.id"]
    assert "It is 42." in more[-1]["attributes"]["gen_ai.output.messages"]


def test_the_runs_of_a_chat_are_one_conversation(reply, tmp_path):
    with FakeServer([chat(reply(answer="Lisbon.")), chat(reply(answer="Tejo."))]) as server:
        done, spans = command("chat", "--endpoint", server.url, "--no-stream", "--otel", tmp_path=tmp_path, lines="Which city?\nIts river?\n")
    runs = [span for span in spans if span["name"].startswith("invoke_agent")]
    assert (done.stdout, len(runs), len({run["attributes"]["gen_ai.conversation.id"] for run in runs})) == ("Lisbon.\nTejo.\n", 2, 1)
    assert len({run["context"]["trace_id"] for run in runs}) == 2


def test_an_exporter_that_is_not_there_is_said_before_anything_is_asked(tmp_path):
    with FakeServer([]) as server:
        done, _ = command("--endpoint", server.url, "--otel", "q?", tmp_path=tmp_path, OTEL_TRACES_EXPORTER="carrier_pigeon")
        assert (done.returncode, server.requests) == (2, [])
    assert "pip install opentelemetry-exporter-carrier-pigeon" in done.stderr and "Traceback" not in done.stderr
