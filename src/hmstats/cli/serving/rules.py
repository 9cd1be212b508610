"""The settings of the rules, as a server takes them."""

from hmstats.model.pending.canary import parse_canary
from hmstats.server.assembly import Rules
from hmstats.settings import Settings


def rules_of(settings: Settings) -> Rules:
    """The rules of a server."""
    return Rules(
        keep_accuracy=settings.keep_accuracy,
        any_engine=settings.any_engine,
        send_sketches=settings.send_sketches,
        statistics_from_partitions=settings.statistics_from_partitions,
        spark_statistics=settings.spark_statistics,
        spark_names=tuple(name.strip() for name in settings.spark_names.split(",") if name.strip()),
        ndv_density_function=settings.ndv_density_function,
        ndv_tuner=settings.ndv_tuner,
        notifications=settings.notifications,
        notification_retention_hours=settings.notification_retention_hours,
        lock_timeout_seconds=settings.lock_timeout_seconds,
        listing_seconds=settings.listing_seconds,
        most_partitions_listed=settings.most_partitions_listed,
        running_write_retention_hours=settings.running_write_retention_hours,
        history_days=settings.history_days,
        history_thinned_days=settings.history_thinned_days,
        refuse_locked_writes=settings.refuse_locked_writes,
        ready_needs_database=settings.ready_needs_database,
        canary=parse_canary(settings.canary),
    )
