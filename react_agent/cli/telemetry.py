"""--otel: where the spans of the command line go, by OpenTelemetry's own environment variables. Needs the extra [otel]."""

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points

from react_agent.cli import output
from react_agent.errors import ConfigError
from react_agent.otel import Spans, both
from react_agent.trace_events import Event

try:
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
except ImportError:
    raise ConfigError("OpenTelemetry's SDK is not installed: pip install 'react-agent[otel]'") from None

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
OTLP = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}  # protocol -> the name its exporter is registered under


class LineExporter(SpanExporter):
    """Each span as a line of JSON on standard error."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        for span in spans:
            output.say(span.to_json(indent=None))
        return SpanExportResult.SUCCESS


def exporters(environ: Mapping[str, str]) -> list[Callable[[], SpanExporter]]:
    """What makes the exporters that the environment names; raises ConfigError for one that is not installed.

    OTEL_TRACES_EXPORTER: names with commas between; without it otlp where an endpoint is set, else console.
    """
    default = "otlp" if any(environ.get(name) for name in ENDPOINTS) else "console"
    names = [name.strip() for name in (environ.get("OTEL_TRACES_EXPORTER") or default).split(",")]
    return [LineExporter if name == "console" else _installed(name, environ) for name in names if name not in ("", "none")]


def _installed(name: str, environ: Mapping[str, str]) -> Callable[[], SpanExporter]:
    registered = _otlp(environ) if name == "otlp" else name
    found = entry_points(group="opentelemetry_traces_exporter", name=registered)
    if not found:
        package = f"opentelemetry-exporter-{registered.replace('_', '-')}"
        raise ConfigError(f"no exporter {registered!r} for OpenTelemetry is installed: pip install {package}; "
                          "or set OTEL_TRACES_EXPORTER=console to print the spans")  # fmt: skip
    make: Callable[[], SpanExporter] = next(iter(found)).load()
    return make


def _otlp(environ: Mapping[str, str]) -> str:
    """The name of the OTLP exporter for the protocol that is set."""
    variable = next((variable for variable in PROTOCOLS if environ.get(variable)), "")
    protocol = environ[variable] if variable else "http/protobuf"
    if protocol not in OTLP:
        raise ConfigError(f"{variable} is {protocol!r}; it must be one of {', '.join(OTLP)}")
    return OTLP[protocol]


def provider(environ: Mapping[str, str]) -> TracerProvider:
    """Sends to what the environment names. Spans that leave the program go in batches, the last one when it ends."""
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):  # nobody has named it
        resource = resource.merge(Resource({SERVICE_NAME: "react-agent"}))
    made = TracerProvider(resource=resource)
    for make in exporters(environ):
        made.add_span_processor(SimpleSpanProcessor(make()) if make is LineExporter else BatchSpanProcessor(make()))
    return made


def with_spans(
    view: Callable[[Event], None] | None, secrets: Sequence[str] = (), environ: Mapping[str, str] = os.environ,
) -> Callable[[Event], None]:  # fmt: skip
    """A listener that makes spans and tells the view. A provider that is there already (opentelemetry-instrument) is used."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(provider(environ))
    content = environ.get(CONTENT, "").lower() in ("true", "span_only", "span_and_event")
    spans = Spans(content=content, secrets=secrets, conversation_id=uuid.uuid4().hex)
    return spans if view is None else both(spans, view)
