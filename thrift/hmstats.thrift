// What hmstats answers beyond the Hive Metastore's API, on the same port.
//
// A service that extends ThriftHiveMetastore: a client made from this file can call everything. A Hive Metastore answers
// these calls with TApplicationException UNKNOWN_METHOD.

include "hive_metastore.thrift"

namespace py hmstats
namespace java io.hmstats.api

// ---------------------------------------------------------------- exceptions

// A question that the stored statistics do not answer. The message says what is missing, and the ANALYZE statement that
// would make it.
exception MissingStatisticsException {
  1: string message,
}

// ---------------------------------------------------------------- questions

// In every request about one column: `partNames` empty or absent means the whole table; `engine` is `hive` when absent,
// and other engines' statistics answer where it has none.

struct DistinctCountRequest {
  1: required string dbName,
  2: required string tblName,
  3: required string colName,
  4: optional list<string> partNames,
  5: optional string catName,
  6: optional string engine,
}

// The truth lies between `low` and `high`, three standard errors away. What is absent is unknown.
struct DistinctCountResult {
  1: required i64 count,
  2: optional double standardError, // relative
  3: optional i64 low,
  4: optional i64 high,
  5: optional bool exact,
}

struct QuantilesRequest {
  1: required string dbName,
  2: required string tblName,
  3: required string colName,
  4: required list<double> fractions, // each from 0 to 1
  5: optional list<string> partNames,
  6: optional string catName,
  7: optional string engine,
}

// One value for each fraction, none when the column has no values. Dates are days and timestamps seconds since
// 1970-01-01. The true quantile lies between those of `lows` and `highs` with a confidence of 99 %.
struct QuantilesResult {
  1: required list<double> values,
  2: required list<double> lows,
  3: required list<double> highs,
  4: required double rankError, // a part of all values
  5: required i64 numValues,
  6: required bool exact, // every value is kept, in single precision
}

struct TopKRequest {
  1: required string dbName,
  2: required string tblName,
  3: required string colName,
  4: optional i32 k = 10,
  5: optional list<string> partNames,
  6: optional string catName,
  7: optional string engine,
}

// `value`: true or false; digits of a long, of a date's days and a timestamp's seconds since 1970-01-01; the shortest
// decimal of a double, or nan, inf, -inf; plain digits of a decimal; a string's first 256 characters; hexadecimal digits of
// a binary's first 128 bytes. It occurs at least `low` and at most `high` times; `high` is also the best estimate.
struct FrequentValue {
  1: required string value,
  2: required i64 low,
  3: required i64 high,
}

struct TopKResult {
  1: required list<FrequentValue> values, // the most frequent first
  2: required string kind, // the member of ColumnStatisticsData that the column has, such as longStats
  3: required i64 numValues, // nulls left out
  4: required i64 unlisted, // any value that is not listed occurs at most so often
  5: required bool exact,
}

// All three questions about many columns, over all partitions. `engine` is `hive` when absent.
struct MergedStatisticsRequest {
  1: required string dbName,
  2: required string tblName,
  3: required list<string> colNames,
  4: required list<double> fractions, // each from 0 to 1
  5: optional i32 k = 10,
  6: optional string catName,
  7: optional string engine,
}

// An answer is absent where nothing stored gives it, or the column's type has none.
struct MergedColumn {
  1: required string colName,
  2: optional DistinctCountResult distinct,
  3: optional QuantilesResult quantiles,
  4: optional TopKResult frequent,
  5: optional i64 writtenAt, // epoch seconds of the oldest statistics
  6: optional i32 stalePartitions, // in which the statistics are behind the rows
}

struct MergedStatisticsResult {
  1: required list<MergedColumn> columns, // in the order of colNames
  2: required i32 numPartitions,
}

// ---------------------------------------------------------------- statistics with all that is kept beside them

// What is absent is unknown.
struct Provenance {
  1: optional bool exact, // every number is, the distinct count too
  2: optional double ndvStandardError, // relative
  3: optional i64 rowsSeen,
  4: optional double sampleFraction, // 1: all rows were looked at
  5: optional string writer, // who sent the statistics; the server says it
  6: optional string tool, // the program that made them, and its version
  7: optional i64 writtenAt, // epoch seconds; the server says it
}

// `topK` is a DataSketches frequent-items sketch of strings, in the form of FrequentValue.
struct ColumnDetails {
  1: optional string partName, // absent: of the table itself
  2: required string colName,
  3: optional string engine, // `hive` when absent
  4: optional Provenance provenance,
  5: optional binary topK,
}

// `colNames` absent: all. `partNames` absent: the table's own statistics; empty: those of every partition.
struct StatisticsRequest {
  1: required string dbName,
  2: required string tblName,
  3: optional list<string> colNames,
  4: optional list<string> partNames,
  5: optional string catName,
  6: optional string engine,
}

// Bit vectors and histograms are in `colStats`, top-k sketches and provenance in `details`.
struct StatisticsResult {
  1: required list<hive_metastore.ColumnStatistics> colStats,
  2: required list<ColumnDetails> details,
}

// Without top-k sketches. `engine` is not looked at: the provenance of every engine's statistics comes.
struct ProvenanceResult {
  1: required list<ColumnDetails> details,
}

// Parameters to put and to remove; all others stay as they are, whoever changed them meanwhile.
struct ParameterChange {
  1: optional string partName, // absent: of the table itself
  2: optional map<string, string> put,
  3: optional list<string> remove,
}

// Changes of a table's parameters, or of those of some of its partitions.
struct ParameterChanges {
  1: required string dbName,
  2: required string tblName,
  3: optional string catName,
  4: required list<ParameterChange> changes,
}

// As set_aggr_stats_for has it, and the details of its columns. `parameters` are changed before the statistics are looked
// at; a COLUMN_STATS_ACCURATE among them stands as it is sent. `colStats` may be empty then. All of it is stored, or nothing.
struct SetStatisticsRequest {
  1: required list<hive_metastore.ColumnStatistics> colStats,
  2: optional list<ColumnDetails> details,
  3: optional bool needMerge,
  4: optional string engine,
  5: optional ParameterChanges parameters,
  6: optional bool force, // past locks
  7: optional bool automatic, // an automatic run sends it, at which the guard looks
}

// ---------------------------------------------------------------- locks

// A lock, or what is to be locked or unlocked: a database, a table, a partition. `colNames` absent or empty: all of it.
struct StatisticsLock {
  1: required string dbName,
  2: optional string tblName,
  3: optional string partName,
  4: optional list<string> colNames,
  5: optional string catName,
  6: optional bool refuse, // writes are refused with an error, else accepted and dropped; absent: as the server is set
  7: optional string reason,
  8: optional string lockedBy, // the server says it
  9: optional i64 lockedAt, // epoch seconds; the server says it
  10: optional i64 dropped, // writes that were accepted and dropped so far; the server says it
  11: optional i64 ifVersion, // of a lock or unlock of a table, as in PendingTableRequest
}

// Patterns as those of get_table_meta; absent: all.
struct StatisticsLocksRequest {
  1: optional string catName,
  2: optional string dbPatterns,
  3: optional string tblPatterns,
}

struct StatisticsLocksResult {
  1: required list<StatisticsLock> locks,
}

// ---------------------------------------------------------------- preferences

// How statistics are made and kept, as it is stated of an object; docs/statistics/preferences.md has names and values. No `dbName`:
// of everything. A preference is of a partition or of a column, not of both.
struct Preference {
  1: optional string catName,
  2: optional string dbName,
  3: optional string tblName,
  4: optional string partName,
  5: optional string colName,
  6: required string name,
  7: required string value,
  8: optional string setBy,
  9: optional i64 setAt, // epoch seconds
  10: optional bool ofHive, // the parameter skip.stats.autoupdate of the object says it
}

// What to set and to remove, of one object: all of it, or nothing.
struct PreferenceChanges {
  1: optional string catName,
  2: optional string dbName,
  3: optional string tblName,
  4: optional string partName,
  5: optional string colName,
  6: optional map<string, string> put,
  7: optional list<string> remove,
}

// Patterns as those of get_table_meta; absent: all.
struct PreferencesRequest {
  1: optional string catName,
  2: optional string dbPatterns,
  3: optional string tblPatterns,
}

struct PreferencesResult {
  1: required list<Preference> preferences,
}

// ---------------------------------------------------------------- pending statistics

// Patterns as those of get_table_meta; absent: all.
struct PendingRequest {
  1: optional string catName,
  2: optional string dbPatterns,
  3: optional string tblPatterns,
}

// What waits of a table itself (no `partName`) or of a partition, and why. `heldBy`: preference or guard.
struct PendingOwner {
  1: required string dbName,
  2: required string tblName,
  3: optional string partName,
  4: required string heldBy,
  5: required string reason,
  6: required list<string> colNames,
  7: optional string writer,
  8: required i64 heldAt, // epoch seconds
}

struct PendingResult {
  1: required list<PendingOwner> owners,
}

// `partNames` absent: the table and all of its partitions. `ifVersion`: a change is refused (InvalidInputException) unless
// the table has this version, which every write of it raises.
struct PendingTableRequest {
  1: required string dbName,
  2: required string tblName,
  3: optional string catName,
  4: optional list<string> partNames,
  5: optional i64 ifVersion,
}

struct PendingStatisticsResult {
  1: required list<hive_metastore.ColumnStatistics> colStats,
  2: required list<ColumnDetails> details,
  3: required list<ParameterChange> changes,
  4: optional i64 tableVersion, // that of the table, from before the rest was read
}

// `recounted`: of so many of the written tables and partitions rows, files and bytes were left out, since they were
// counted anew in the meantime.
struct PublishResult {
  1: required i64 written,
  2: required i64 recounted,
}

// ---------------------------------------------------------------- running writes

// Where a partial state stands among those of its run, which are in the order of these fields. `piece` is a partition's
// name, or empty for an unpartitioned table; `number` counts the states of one attempt of a task.
struct PartialPlace {
  1: required string piece,
  2: required i64 task,
  3: required i64 attempt,
  4: required i64 number,
}

// What one attempt of a task has found of a piece, as bytes that only the job's own program reads.
struct PartialState {
  1: required PartialPlace place,
  2: required binary state,
}

// The same task, attempt and number again replaces what is there.
struct PutPartialStatesRequest {
  1: required string runId,
  2: required list<PartialState> states,
}

// `after` absent: from the beginning.
struct PartialStatesRequest {
  1: required string runId,
  2: optional PartialPlace after,
}

// In the order of their places; an empty list is the end.
struct PartialStatesResult {
  1: required list<PartialState> states,
}

// ---------------------------------------------------------------- Arrow

// `colNames` absent: all. `partNames` absent: of the table itself; empty: of every partition; those that do not exist are
// left out. `sketches`: bit vectors, histograms and frequent values too.
struct ArrowStatisticsRequest {
  1: required string dbName,
  2: required string tblName,
  3: optional list<string> colNames,
  4: optional list<string> partNames,
  5: optional string catName,
  6: optional string engine,
  7: optional bool sketches,
}

// An Arrow IPC stream of arrays of Arrow's statistics schema: a record batch for the table, or for each partition in the
// order of their names.
struct ArrowStatisticsResult {
  1: required binary stream,
}

// ---------------------------------------------------------------- history

// Times are epoch milliseconds. `colName` absent: writes of any column. `most` absent: 1,000, which is the most.
struct StatisticsHistoryRequest {
  1: required string dbName,
  2: required string tblName,
  3: optional string catName,
  4: optional string colName,
  5: optional i32 most,
}

// `kinds`: columns, parameters, dropped, arrived (from another table), renamed. `tblName`: the table's name before the
// write. No `colNames`: all columns, or none. No `partNames`: the table itself, and with `dropped` its partitions too.
struct StatisticsWrite {
  1: required i64 at,
  2: required string dbName,
  3: required string tblName,
  4: required list<string> kinds,
  5: optional string writer,
  6: optional string call,
  7: required list<string> colNames,
  8: required list<string> partNames,
}

struct StatisticsHistoryResult {
  1: required list<StatisticsWrite> writes, // newest first
  2: required i64 oldest, // the oldest time that can be asked for
  3: required i64 sizeBytes, // of the history of all tables
}

// `at` absent: now. `colNames` and `partNames` as in StatisticsRequest.
struct PastStatisticsRequest {
  1: required string dbName,
  2: required string tblName,
  3: optional string catName,
  4: optional i64 at,
  5: optional list<string> colNames,
  6: optional list<string> partNames,
}

// `at`: of a day that is thinned, its beginning. `parameters`: those of statistics, by partition; empty: the table.
struct PastStatisticsResult {
  1: required i64 at,
  2: required list<hive_metastore.ColumnStatistics> colStats,
  3: required list<ColumnDetails> details,
  4: required map<string, map<string, string>> parameters,
}

struct RestoreStatisticsRequest {
  1: required string dbName,
  2: required string tblName,
  3: optional string catName,
  4: required i64 at,
  5: optional bool dryRun,
  6: optional i64 ifVersion, // as in PendingTableRequest
}

// Counts: columns' statistics written and removed, tables and partitions whose parameters change, and those of them
// that lose their mark of accurate statistics, since their files have changed.
struct RestoreStatisticsResult {
  1: required i64 at,
  2: required i64 written,
  3: required i64 removed,
  4: required i64 parameters,
  5: required i64 unmarked,
}

// ---------------------------------------------------------------- health

// Health of statistics: 100 if nothing has changed since they were made, 0 if they are missing. `partName` absent: of the
// table. `reason`: missing, changed, unmarked, incomplete, empty, fresh. What is absent is unknown.
struct StatisticsHealth {
  1: required string dbName,
  2: required string tblName,
  3: required string catName,
  4: optional string partName,
  5: required i32 health,
  6: required string reason,
  7: optional i64 numRows,
  8: optional i64 numFiles,
  9: optional i64 totalSize, // bytes
  10: optional i64 rowsThen, // when the statistics were made
  11: optional i64 filesThen,
  12: optional i64 sizeThen,
  13: required i64 movedRows, // the sum of all changes of the number of rows since then
  14: required bool marked, // as accurate
  15: required i32 numColumns, // that can have statistics
  16: required i32 analyzedColumns,
  17: optional i64 analyzedAt, // epoch seconds of the oldest statistics
  18: optional i64 staleSince, // epoch milliseconds at which health was first seen below 100
  19: optional i64 numPartitions, // of a table that has partition keys
  20: optional i64 stalePartitions, // with a health below 100
}

// Patterns as those of get_table_meta; absent: all. `below`: those with a health below that. `after`: `nextPage` of the page
// before. `most`: entries of a page, at most 1,000, which is the default.
struct HealthRequest {
  1: optional string catName,
  2: optional string dbPatterns,
  3: optional string tblPatterns,
  4: optional i32 below,
  5: optional string after,
  6: optional i32 most,
}

struct PartitionHealthRequest {
  1: required string dbName,
  2: required string tblName,
  3: optional string catName,
  4: optional i32 below,
  5: optional string after,
  6: optional i32 most,
}

// The worst first. `nextPage` is absent after the last page. `complete`: every change before the question is reflected.
struct HealthResult {
  1: required list<StatisticsHealth> health,
  2: optional string nextPage,
  3: required bool complete,
}

// ---------------------------------------------------------------- refreshes

// A run that refreshes a table, or some partitions of it (`partNames` empty: the table as a whole). Times are epoch
// milliseconds, and said by the server. `outcome`: running, done, failed, stopped, lost. `why`: terms of a score.
struct StatisticsRun {
  1: required string runId, // up to 64 characters, made by the client
  2: required string dbName,
  3: required string tblName,
  4: optional string catName,
  5: optional list<string> partNames,
  6: optional string runner,
  7: optional map<string, double> why,
  8: optional i64 startedAt,
  9: optional i64 endedAt,
  10: optional string outcome,
  11: optional string reason,
  12: optional i64 numRows,
  13: optional i64 numBytes,
  14: optional double seconds,
  15: optional i32 leaseSeconds, // of begin and renew
}

// If not `started`: another runner has the table until then, or without `heldBy`, it failed and is tried again then.
struct BeginRunResult {
  1: required bool started,
  2: optional string heldBy,
  3: optional i64 untilMs,
}

// Patterns as those of get_table_meta; absent: all. `startedBefore`: for the next page. `most`: at most 1,000.
struct RunsRequest {
  1: optional string catName,
  2: optional string dbPatterns,
  3: optional string tblPatterns,
  4: optional string outcome,
  5: optional i64 startedBefore,
  6: optional i32 most,
}

// A table that a run has until a time, or that failed so often in a row and is tried again at a time.
struct RunLease {
  1: required string dbName,
  2: required string tblName,
  3: required string catName,
  4: optional string runner,
  5: optional i64 untilMs,
  6: required i32 failures,
  7: optional i64 retryAt,
}

struct RunsResult {
  1: required list<StatisticsRun> runs, // newest first
  2: required list<RunLease> leases,
}

// ---------------------------------------------------------------- access

// What a user may do with a catalog, a database or a table; without names, with the server. Absent `userName`: the
// caller. About another user, and with `groupNames`, it needs admin of the server.
struct CheckAccessRequest {
  1: optional string catName,
  2: optional string dbName,
  3: optional string tblName,
  4: optional string userName,
  5: optional list<string> groupNames,
}

// `rule`: the place in its file, from 1, of the rule that decides; absent: none does.
struct AccessDecision {
  1: required string action,
  2: required bool allowed,
  3: optional i32 rule,
}

// A rule; absent `userNames`, `groupNames` and `objects` stand for any.
struct AccessRule {
  1: required i32 number,
  2: optional list<string> userNames,
  3: optional list<string> groupNames,
  4: optional list<string> objects,
  5: required list<string> actions,
}

struct CheckAccessResult {
  1: required string userName,
  2: required list<string> groupNames,
  3: required bool enforced, // false: the server has no access rules, so that all is allowed
  4: required list<AccessDecision> decisions, // of every action
  5: optional list<AccessRule> rules, // those about the object or something in it, in order; for admins
}

// ---------------------------------------------------------------- feedback of queries

// A table (`colName` absent) or column that was to blame for a wrong estimate of a query. `usedFor`: rows, equality, range,
// nulls, function, join, group. `verdict`: missing, stale, wrong; beyond: analysing will not help. `shape`: up to 64
// characters, equal for queries that differ in literals only. `estimated` absent: the engine did not know.
struct Blame {
  1: required string dbName,
  2: required string tblName,
  3: optional string catName,
  4: optional string colName,
  5: required string usedFor,
  6: required string verdict,
  7: required string engine,
  8: required string shape,
  9: required i64 seenAt, // epoch milliseconds at which the query began
  10: optional double estimated, // rows
  11: required i64 numRows, // that there were
  12: required double factor, // of the error of this operation alone, at least 1
  13: required double weight, // log2 of the factor x seconds of the query
}

struct BlameRecords {
  1: required list<Blame> blame, // at most 1,000
}

// Patterns as those of get_table_meta; absent: all. `since`: epoch milliseconds. `most`: at most 1,000.
struct BlameRequest {
  1: optional string catName,
  2: optional string dbPatterns,
  3: optional string tblPatterns,
  4: optional i64 since,
  5: optional i32 most,
}

// One table or column with one use and verdict. `queries`: each shape once a day. `analyzedAt`: epoch seconds of the table's
// statistics now.
struct BlameSum {
  1: required Blame worst,
  2: required i64 queries,
  3: required double weight,
  4: required i64 lastSeenAt, // epoch milliseconds
  5: optional i64 analyzedAt,
}

struct BlameResult {
  1: required list<BlameSum> sums, // the greatest weight first
}

// ---------------------------------------------------------------- calls

service HmstatsService extends hive_metastore.ThriftHiveMetastore {

  // How many distinct values a column has over the partitions together.
  DistinctCountResult get_distinct_count(1: DistinctCountRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: MissingStatisticsException o2,
            3: hive_metastore.InvalidInputException o3, 4: hive_metastore.MetaException o4)

  // The values below which the fractions of a column's values lie.
  QuantilesResult get_quantiles(1: QuantilesRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: MissingStatisticsException o2,
            3: hive_metastore.InvalidInputException o3, 4: hive_metastore.MetaException o4)

  // A column's most frequent values.
  TopKResult get_top_k(1: TopKRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: MissingStatisticsException o2,
            3: hive_metastore.InvalidInputException o3, 4: hive_metastore.MetaException o4)

  // What all partitions say together of many columns: distinct counts, quantiles, and frequent values.
  MergedStatisticsResult get_merged_statistics(1: MergedStatisticsRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Where statistics come from.
  ProvenanceResult get_provenance(1: StatisticsRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.InvalidObjectException o3, 4: hive_metastore.MetaException o4)

  // Statistics with their sketches and provenance.
  StatisticsResult get_statistics(1: StatisticsRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.InvalidObjectException o3, 4: hive_metastore.MetaException o4)

  // Stores statistics with all that is kept beside them.
  bool set_statistics(1: SetStatisticsRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidObjectException o2,
            3: hive_metastore.MetaException o3, 4: hive_metastore.InvalidInputException o4)

  // Locks statistics against writes; of a table, those of new partitions too.
  bool lock_statistics(1: StatisticsLock request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Removes the locks of exactly this object; without columns those of its columns too. How many locks there were.
  i64 unlock_statistics(1: StatisticsLock request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // The locks of databases, and of tables and partitions in them.
  StatisticsLocksResult get_statistics_locks(1: StatisticsLocksRequest request)
    throws (1: hive_metastore.MetaException o1)

  // Sets and removes preferences of an object; how many were removed.
  i64 change_preferences(1: PreferenceChanges request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // The preferences of everything, of databases, and of tables, partitions and columns in them.
  PreferencesResult get_preferences(1: PreferencesRequest request)
    throws (1: hive_metastore.MetaException o1)

  // Which statistics wait, and why.
  PendingResult list_pending_statistics(1: PendingRequest request)
    throws (1: hive_metastore.MetaException o1)

  // The statistics of a table that wait.
  PendingStatisticsResult get_pending_statistics(1: PendingTableRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Writes what waits, of a table or of some partitions. Refused if any of it is locked, by whatever lock.
  PublishResult publish_statistics(1: PendingTableRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Forgets what waits; of how many tables and partitions.
  i64 reject_statistics(1: PendingTableRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Keeps what an attempt of a task of a running write has found, until the run is removed or was silent for a time.
  bool put_partial_states(1: PutPartialStatesRequest request)
    throws (1: hive_metastore.InvalidInputException o1, 2: hive_metastore.MetaException o2)

  // The next of a running write's partial states, by piece.
  PartialStatesResult get_partial_states(1: PartialStatesRequest request)
    throws (1: hive_metastore.InvalidInputException o1, 2: hive_metastore.MetaException o2)

  // Forgets a running write; how many partial states it had.
  i64 remove_partial_states(1: PartialStatesRequest request)
    throws (1: hive_metastore.InvalidInputException o1, 2: hive_metastore.MetaException o2)

  // The writes of a table's statistics.
  StatisticsHistoryResult get_statistics_history(1: StatisticsHistoryRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Statistics with their sketches, provenance and parameters, as of a time.
  PastStatisticsResult get_past_statistics(1: PastStatisticsRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Writes the statistics of a time again.
  RestoreStatisticsResult restore_statistics(1: RestoreStatisticsRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // The health of tables' statistics, the worst first.
  HealthResult get_statistics_health(1: HealthRequest request)
    throws (1: hive_metastore.InvalidInputException o1, 2: hive_metastore.MetaException o2)

  // The health of the statistics of a table's partitions, the worst first.
  HealthResult get_partition_health(1: PartitionHealthRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Begins a run that refreshes a table's statistics, unless another has the table.
  BeginRunResult begin_statistics_run(1: StatisticsRun request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Prolongs the lease of a run; false if another run has its table by now.
  bool renew_statistics_run(1: StatisticsRun request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Records how a run ended, and frees its table; false if it was not under way.
  bool end_statistics_run(1: StatisticsRun request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // The runs that refreshed statistics, newest first, and the tables that are taken or have failed.
  RunsResult get_statistics_runs(1: RunsRequest request)
    throws (1: hive_metastore.InvalidInputException o1, 2: hive_metastore.MetaException o2)

  // What a user may do with an object, by the access rules.
  CheckAccessResult check_access(1: CheckAccessRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.MetaException o3)

  // Records which tables and columns were to blame for wrong estimates; how many were not too old.
  i64 record_blame(1: BlameRecords request)
    throws (1: hive_metastore.InvalidInputException o1, 2: hive_metastore.MetaException o2)

  // The tables and columns that are to blame for most, over the queries since a time.
  BlameResult get_blame(1: BlameRequest request)
    throws (1: hive_metastore.InvalidInputException o1, 2: hive_metastore.MetaException o2)

  // Statistics as Arrow arrays, which any Arrow library reads.
  ArrowStatisticsResult get_arrow_statistics(1: ArrowStatisticsRequest request)
    throws (1: hive_metastore.NoSuchObjectException o1, 2: hive_metastore.InvalidInputException o2,
            3: hive_metastore.InvalidObjectException o3, 4: hive_metastore.MetaException o4)
}
