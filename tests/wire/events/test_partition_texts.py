"""Partitions as texts: letter for letter what the writer of all structs makes of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.partitions.formats import OTHERS, STORAGE
from tests.wire.partitions.test_partition_bytes import NAME, PARTITIONS, STORAGES

from hmstats.model.catalog.objects import Column, Partition, Storage
from hmstats.wire.catalog.objects import partition_to_thrift
from hmstats.wire.events.json_protocol import struct_to_json
from hmstats.wire.events.partition_texts import PartitionTexts


def check(partitions: list[Partition]) -> None:
    texts = PartitionTexts(NAME)
    expected = [struct_to_json(partition_to_thrift(NAME, each)) for each in partitions]
    assert [texts.text(each) for each in partitions] == expected


@given(partitions=st.lists(PARTITIONS, max_size=4))
def test_any_partitions(partitions: list[Partition]) -> None:
    check(partitions)


@given(storage=STORAGES, places=st.lists(st.text("a/='\"\\ü", max_size=5), max_size=4))
def test_partitions_that_differ_in_their_place(storage: Storage, places: list[str]) -> None:
    check([Partition(values=(place,), storage=replace(storage, location=place)) for place in places])


def test_texts_that_look_like_a_part_of_the_message() -> None:
    tricky = '"7":{"map":'
    storage = Storage(columns=(Column(tricky, tricky),), location=tricky)
    check([Partition(values=(tricky,), storage=storage, parameters={tricky: tricky})])


@pytest.mark.parametrize("other", OTHERS)
def test_storages_that_differ_in_one_field_are_told_apart(other: Storage) -> None:
    check([Partition(values=("1",), storage=each) for each in (STORAGE, other, STORAGE)])
