"""Traces by OpenTelemetry (the extra otel): what took how long, from a client's request to the statements of SQL.

They are off, and nothing is imported, unless the environment names an exporter as OpenTelemetry has it:
OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_TRACES_EXPORTER=otlp. Its other variables, for
headers, samplers and names, count too.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from hmstats.extras import install_advice

Kind = Literal["internal", "server", "client"]
Carrier = Mapping[str, str]
"""The headers traceparent and tracestate, by which a trace goes on elsewhere."""
HEADERS = ("traceparent", "tracestate")
_PARENT = "TRACEPARENT"
_PREFIX = "OTEL_"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
_FLUSH_MILLISECONDS = 10_000
_NOTHING: AbstractContextManager[None] = nullcontext()
_NO_HEADERS: Carrier = {}

_lock = threading.Lock()
_state: "_Tracing | None" = None
_asked = False
"""Whether the environment has been looked at."""


@dataclass(frozen=True, slots=True)
class _Tracing:
    """The objects that make spans: the provider, its tracer, and OpenTelemetry's modules, which are imported late."""

    provider: Any
    tracer: Any
    api: Any
    propagator: Any


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A trace that goes on in another process, and the environment by which it sends its spans."""

    carrier: Carrier
    environment: Mapping[str, str]


def is_on() -> bool:
    """Whether spans are made."""
    return _state is not None


def start(service: str) -> None:
    """Make spans from now on, if the environment wants them; `service` names the process unless that does.

    A program that has set OpenTelemetry up for itself gets them in its own way.
    """
    global _asked  # noqa: PLW0603 - one for the process, as OpenTelemetry's own
    with _lock:
        if _asked or not _is_wanted(os.environ):
            return
        _asked = True
    if not _is_installed():
        _warn(f"traces need OpenTelemetry: {install_advice('otel')}")
        return
    from opentelemetry import trace  # noqa: PLC0415 - an optional part
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415

    of_program = trace.get_tracer_provider()
    use(of_program if isinstance(of_program, TracerProvider) else _exporting(service))


def use(provider: Any) -> None:
    """Make spans with a TracerProvider, such as that of the program around; None makes none."""
    global _state  # noqa: PLW0603
    if provider is None:
        _state = None
        return
    from opentelemetry import trace  # noqa: PLC0415 - an optional part
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

    _state = _Tracing(provider, provider.get_tracer("hmstats"), trace, TraceContextTextMapPropagator())


def span(
    name: str, kind: Kind = "internal", carrier: Carrier | None = None, **attributes: Any
) -> AbstractContextManager[Any]:
    """A span around a block, in the trace of `carrier` or of the span around; it yields None while there are none.

    An attribute's name has __ in place of each dot.
    """
    state = _state
    if state is None:
        return _NOTHING
    return _begin(state, name, kind, carrier, attributes)


def outer_span(name: str) -> AbstractContextManager[Any]:
    """A span around the work of a command, in the trace that the variable TRACEPARENT names, if any."""
    named = os.environ.get(_PARENT)
    return span(name, carrier={HEADERS[0]: named} if named else None)


def inner_span(name: str, kind: Kind = "internal", **attributes: Any) -> AbstractContextManager[Any]:
    """A span around a block that is a part of another span; none where there is no other."""
    state = _state
    if state is None or not state.api.get_current_span().is_recording():
        return _NOTHING
    return _begin(state, name, kind, None, attributes)


def headers() -> Carrier:
    """The headers of a request by which the trace goes on where it is answered; empty without one."""
    if _state is None:
        return _NO_HEADERS
    found: dict[str, str] = {}
    _state.propagator.inject(found)
    return found


def trace_id() -> str | None:
    """The id of the trace in hexadecimal digits, for log lines; None without one."""
    if _state is None:
        return None
    context = _state.api.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None


def elsewhere() -> Elsewhere | None:
    """The context that another process needs to continue the current trace; None without a trace."""
    carrier = headers()
    if not carrier:
        return None
    return Elsewhere(carrier, {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)})


@contextmanager
def span_of_task(name: str, of: Elsewhere | None, **attributes: Any) -> Iterator[None]:
    """A span in another process's trace; it is sent at its end, since the process may end soon after."""
    if of is None:
        yield
        return
    if _state is None:
        os.environ.update(of.environment)
        start("hmstats task")
    with span(name, carrier=of.carrier, **attributes):
        yield
    flush()


def flush() -> None:
    """Send the spans that have ended."""
    if _state is not None:
        _state.provider.force_flush(_FLUSH_MILLISECONDS)


def _exporting(service: str) -> Any:
    """A provider that sends spans as the environment says."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _warn(reason: str) -> None:
    import structlog  # noqa: PLC0415 - a command that makes no traces need not load it

    structlog.get_logger("hmstats.tracing").warning("traces_not_sent", reason=reason)


def _is_wanted(environment: Mapping[str, str]) -> bool:
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporters = environment.get("OTEL_TRACES_EXPORTER")
    if exporters is not None:
        return "otlp" in [each.strip() for each in exporters.split(",")]
    return any(environment.get(name) for name in _ENDPOINTS)


def _is_installed() -> bool:
    try:
        return all(find_spec(name) is not None for name in _NEEDED)
    except ModuleNotFoundError:  # of a package around
        return False


@contextmanager
def _begin(
    state: _Tracing, name: str, kind: Kind, carrier: Carrier | None, attributes: Mapping[str, Any]
) -> Iterator[Any]:
    context = state.propagator.extract(carrier) if carrier else None
    told = {key.replace("__", "."): value for key, value in attributes.items() if value is not None}
    with state.tracer.start_as_current_span(
        name, context=context, kind=state.api.SpanKind[kind.upper()], attributes=told
    ) as found:
        yield found
