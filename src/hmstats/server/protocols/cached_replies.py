"""Which cached replies the selector's thread sends itself, while all other clients wait."""

from hmstats.server.calls.dispatch import Dispatcher, KeptReply
from hmstats.server.messages.encodings import Encoding
from hmstats.server.rpc.caller import Session

_LONGEST_ASKED = 256 * 1024
"""The longest request, in bytes, that is looked up in the selector's thread: it is copied and hashed."""
_LONGEST_ENCODED = 4 * 1024
"""The longest reply in binary form, in bytes, that is converted in the selector's thread."""


def kept_reply(dispatcher: Dispatcher, encoding: Encoding, request: bytes, session: Session) -> KeptReply | None:
    """The cached reply to a request; None if it is not cached, or if a worker should send it since it is long."""
    if len(request) > _LONGEST_ASKED:
        return None
    reply = dispatcher.kept(request, session)
    if reply is None or encoding.encodes_at_once or len(reply.kept.result) <= _LONGEST_ENCODED:
        return reply
    return None
