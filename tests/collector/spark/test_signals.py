"""What py4j logs of an interrupt is kept out of the log; what it logs of other errors is not."""

import logging

import pytest

from hmstats.collector.spark.signals import without_traces_of_interrupts

ROOT, CLIENT = logging.getLogger(), logging.getLogger("py4j.clientserver")


def _log(logger: logging.Logger, error: BaseException) -> None:
    logger.error("error while closing", exc_info=error)


def _raised_while_handling(first: BaseException) -> BrokenPipeError:
    error = BrokenPipeError()
    error.__context__ = first
    return error


@pytest.mark.parametrize("logger", [ROOT, CLIENT])
def test_traces_of_interrupts_are_left_out(logger: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    with without_traces_of_interrupts():
        _log(logger, KeyboardInterrupt())
        _log(logger, _raised_while_handling(KeyboardInterrupt()))
    assert caplog.messages == []
    _log(logger, KeyboardInterrupt())
    assert caplog.messages == ["error while closing"]


@pytest.mark.parametrize("logger", [ROOT, CLIENT])
def test_other_errors_are_logged(logger: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    with without_traces_of_interrupts():
        _log(logger, _raised_while_handling(ValueError()))
        logger.error("no trace")
    assert caplog.messages == ["error while closing", "no trace"]
