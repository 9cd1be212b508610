"""What is sent fits the models that the catalogs' own projects publish. `make test-feeds` installs them.

The models are in the packages openlineage-python (attrs classes), acryl-datahub (Avro schemas) and
openmetadata-ingestion (pydantic classes), made there of the projects' specifications.
"""

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr
from tests.web.fixture import Shown, metastore_port, shown

from hmstats import client
from hmstats.feeds import datahub, openlineage, openmetadata
from hmstats.web.answers.tables import TableFacts
from hmstats.web.reading.selections import Selection
from hmstats.web.reading.table_facts import table_facts

__all__ = ["metastore_port", "shown"]
NOW_MS = 1_700_000_000_000
TABLES = ["shop.visits", "shop.by_day", "shop.bare", "shop.marked"]


def needs(module: str) -> pytest.MarkDecorator:
    top = module.partition(".")[0]
    return pytest.mark.skipif(find_spec(top) is None, reason=f"{module} is not there: make test-feeds")


@pytest.fixture(params=TABLES)
def facts(request: pytest.FixtureRequest, shown: Shown, metastore_port: int) -> TableFacts:
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        return table_facts(service, request.param, Selection(), limit=1_000)


@needs("openlineage.client")
def test_an_event_of_openlineage(facts: TableFacts) -> None:
    event = openlineage.dataset_event(facts, "hive://localhost:9083", NOW_MS)
    models = import_module("openlineage.client.generated.data_quality_metrics_dataset")
    schema = import_module("openlineage.client.generated.schema_dataset")
    base = import_module("openlineage.client.generated.base")
    facets = event["dataset"]["facets"]
    given = {name: value for name, value in facets["dataQualityMetrics"].items() if not name.startswith("_")}
    columns = {name: models.ColumnMetrics(**each) for name, each in given.pop("columnMetrics").items()}
    metrics = models.DataQualityMetricsDatasetFacet(columnMetrics=columns, **given)
    fields = [schema.SchemaDatasetFacetFields(**each) for each in facets["schema"]["fields"]]
    named = event["dataset"]
    typed = {"dataQualityMetrics": metrics, "schema": schema.SchemaDatasetFacet(fields)}
    dataset = base.StaticDataset(namespace=named["namespace"], name=named["name"], facets=typed)
    made = base.DatasetEvent(eventTime=event["eventTime"], producer=event["producer"], dataset=dataset)
    assert made.dataset.facets["dataQualityMetrics"].rowCount == (facts.rows and facts.rows.value)
    assert event["schemaURL"].rpartition("/")[2] == made.schemaURL.rpartition("/")[2] == "DatasetEvent"


@needs("datahub")
@needs("fastavro")
def test_a_profile_of_datahub(facts: TableFacts) -> None:
    validate = import_module("fastavro.validation").validate
    place = Path(import_module("datahub").__path__[0]) / "metadata" / "schemas" / "DatasetProfile.avsc"
    assert validate(datahub.profile(facts, NOW_MS), json.loads(place.read_text()), strict=True)


@pytest.fixture
def bare_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base class of OpenMetadata's models is pydantic's; its own module loads all of its ingestion."""
    base = ModuleType("metadata.ingestion.models.custom_pydantic")
    vars(base).update(BaseModel=BaseModel, CustomSecretStr=SecretStr)
    for name in ("metadata.ingestion", "metadata.ingestion.models"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, base.__name__, base)
    found = find_spec("metadata")
    assert found is not None
    bare = ModuleType("metadata")  # without what its own start loads
    bare.__path__ = list(found.submodule_search_locations or ())
    monkeypatch.setitem(sys.modules, "metadata", bare)


@needs("metadata.generated")
def test_a_profile_of_openmetadata(facts: TableFacts, bare_models: None) -> None:
    model: Any = import_module("metadata.generated.schema.api.data.createTableProfile").CreateTableProfileRequest
    model.model_validate(openmetadata.table_profile(facts, NOW_MS))
