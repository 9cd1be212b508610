"""What a server is made of, where a part that is left out would be missed by nobody for a long time."""

from hmstats.server import assembly
from hmstats.server.assembly import Rules
from hmstats.store.database.store import Store


def test_an_older_database_empties_the_memory_of_partitions_and_blocks(store: Store) -> None:
    memory = assembly._statistics(store, Rules(), 1_000).memory
    store._pools.lost_commits.check_stamp(1)
    memory.put("key", "read of the newer database", 100, memory.cleared)
    assert len(memory) == 1
    store._pools.lost_commits.check_stamp(2)
    assert len(memory) == 0
