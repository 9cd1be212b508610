"""What a gateway logs while its upstream is away, which may be for days."""

from types import SimpleNamespace
from typing import Any

from structlog.testing import capture_logs

from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.statistics.delivery import Delivery, UpstreamWrites


class Upstream:
    """Is away for the reason given, if any."""

    reason: str | None = None

    def own_calls(self) -> object:
        if self.reason is not None:
            raise UpstreamUnavailable(self.reason)
        return object()


def test_each_reason_for_which_sending_waits_is_logged_once() -> None:
    upstream: Any = Upstream()
    sending: Any = SimpleNamespace(run=lambda _calls: 0, count_unsent=lambda: 3)
    delivery = Delivery(upstream, sending, UpstreamWrites.BEHIND)
    left = []
    with capture_logs() as logs:
        for reason in ("refused", "refused", "timeout", "timeout", None, "timeout"):
            upstream.reason = reason
            left.append(delivery.send_pending())
    assert left == [3, 3, 3, 3, 0, 3]
    assert [(each["event"], each["reason"]) for each in logs] == [
        ("sending_waits", "refused"),
        ("sending_waits", "timeout"),
        ("sending_waits", "timeout"),
    ]
