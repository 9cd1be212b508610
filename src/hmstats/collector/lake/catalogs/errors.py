"""Converts errors of PyIceberg and its catalogs to errors of hmstats that name the table and the catalog."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NotInstalledError,
    RESTError,
    SignError,
    ValidationError,
)
from requests.exceptions import RequestException
from sqlalchemy.exc import SQLAlchemyError

from hmstats.errors import ServiceError, SettingsError, StatementError

_LONGEST = 400
_MISSING = (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError)
_REFUSED = (RESTError, RequestException, SignError, SQLAlchemyError, CommitFailedException)


@contextmanager
def translate_errors(catalog: str, shown: str) -> Iterator[None]:
    """Raise StatementError, SettingsError or ServiceError in place of the errors of a catalog's calls about `shown`."""
    try:
        yield
    except _MISSING as error:
        raise StatementError(f"catalog {catalog} has no {shown}") from error
    except NotInstalledError as error:
        raise SettingsError(f"catalog {catalog} cannot be opened: {error}") from error
    except _REFUSED as error:
        raise ServiceError(f"catalog {catalog} failed at {shown}: {_sentence(error)}") from error
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        raise StatementError(f"catalog {catalog} cannot answer for {shown}: {_sentence(error)}") from error


def _sentence(error: Exception) -> str:
    """The message of an error in one line; PyIceberg's checks of metadata have long ones."""
    return textwrap.shorten(str(error) or type(error).__name__, _LONGEST)
