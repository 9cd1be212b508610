"""Storages that differ in one field."""

from dataclasses import replace

from hmstats.model.catalog.objects import Column, SerDe, SkewedInfo, SortColumn, Storage

STORAGE = Storage(columns=(Column("l", "bigint"),), location="file:/a", serde=SerDe(library="x", parameters={"k": "v"}))
OTHERS = (
    replace(STORAGE, columns=(Column("l", "int"),)),
    replace(STORAGE, location="file:/b"),
    replace(STORAGE, location=None),
    replace(STORAGE, input_format="i"),
    replace(STORAGE, output_format="o"),
    replace(STORAGE, compressed=True),
    replace(STORAGE, buckets=3),
    replace(STORAGE, bucket_columns=("l",)),
    replace(STORAGE, sort_columns=(SortColumn("l", 1),)),
    replace(STORAGE, parameters={"a": "b"}),
    replace(STORAGE, stored_as_subdirectories=True),
    replace(STORAGE, skewed=SkewedInfo(("l",), (("1",),), {("1",): "file:/c"})),
    replace(STORAGE, serde=replace(STORAGE.serde, name="other")),
    replace(STORAGE, serde=replace(STORAGE.serde, library="other")),
    replace(STORAGE, serde=replace(STORAGE.serde, description="other")),
    replace(STORAGE, serde=replace(STORAGE.serde, serializer_class="other")),
    replace(STORAGE, serde=replace(STORAGE.serde, deserializer_class="other")),
    replace(STORAGE, serde=replace(STORAGE.serde, serde_type=1)),
    replace(STORAGE, serde=replace(STORAGE.serde, parameters={"k": "w"})),
)
