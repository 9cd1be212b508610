"""Puts a server together from the settings: store, rules, calls, sockets. The only place that knows all of them."""

from collections.abc import Callable, Mapping
from typing import Any
