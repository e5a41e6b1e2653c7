"""What the tests of OpenTelemetry share: a recorder of spans, and spans as trees of plain data."""

from dataclasses import dataclass, field

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from react_agent import ScriptedEndpoint


@dataclass
class Node:
    """A span: its name, its kind, its status (empty: unset), what it says, its events as (name, attributes), its children in order."""

    name: str
    kind: str
    attributes: dict
    status: str = ""
    events: list = field(default_factory=list)
    children: list = field(default_factory=list)


class Recorder:
    """A tracer whose spans can be read back."""

    def __init__(self, **options):
        self.exporter, self.provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False, **options)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("tests")

    @property
    def spans(self):
        return self.exporter.get_finished_spans()

    def trees(self):
        """The roots, in the order in which they began."""
        nodes = {span.context.span_id: node_of(span) for span in self.spans}
        roots = []
        for span in sorted(self.spans, key=lambda span: span.start_time):
            siblings = roots if span.parent is None else nodes[span.parent.span_id].children
            siblings.append(nodes[span.context.span_id])
        return roots

    def texts(self):
        """All that the spans say, as one text."""
        return "\n".join(span.to_json() for span in self.spans)


def node_of(span):
    code, said = span.status.status_code.name, span.status.description
    events = [(event.name, plain(event.attributes)) for event in span.events]
    return Node(span.name, span.kind.name, plain(span.attributes), "" if code == "UNSET" else f"{code} {said}", events)


def plain(attributes):
    return {name: list(value) if isinstance(value, tuple) else value for name, value in attributes.items()}


class DescribedEndpoint(ScriptedEndpoint):
    """A scripted endpoint that describes itself as an HTTP one would."""

    def __init__(self, script, model="small", **described):
        super().__init__(script, model)
        self.described = {"endpoint": "openai", "url": "http://127.0.0.1:8080/v1", "model": model, "stream": True, **described}

    def describe(self):
        return self.described
