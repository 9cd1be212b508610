import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.catalog.CatalogPartitionSpec;
import org.apache.flink.table.catalog.ObjectPath;
import org.apache.flink.table.catalog.hive.HiveCatalog;
import org.apache.flink.table.catalog.stats.*;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * A session of Flink SQL (batch, a mini cluster in this JVM) whose catalog `hive` is on a metastore. Arguments: a file with a statement a line, and the
 * folder of hive-site.xml. A line of JSON per statement: {"sql", "rows"} or {"sql", "error"}.
 *
 * A line that begins with @ calls Flink's catalog instead, in the current database; PARTITION is k=v,k=v, or - for the table itself, and - is no number:
 *   @statistics TABLE PARTITION       counts and columns           @statistics-of-all TABLE         the same of all partitions, in bulk
 *   @parameters TABLE PARTITION       @partitions TABLE PARTITION  partitions of a part of the keys        @exists TABLE
 *   @put-counts TABLE PARTITION ROWS FILES BYTES RAW               @put-column TABLE PARTITION COLUMN KIND NUMBER...
 */
public final class FlinkPeer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] SETTINGS = {
        "table.exec.resource.default-parallelism=1", "parallelism.default=1", "taskmanager.memory.managed.size=128m", "rest.address=127.0.0.1",
        "rest.bind-address=127.0.0.1", "taskmanager.memory.network.min=16m", "taskmanager.memory.network.max=16m",
        "classloader.check-leaked-classloader=false", "fs.allowed-fallback-filesystems=s3a"};

    private final TableEnvironment flink;
    private final HiveCatalog catalog;

    private FlinkPeer(String conf) {
        Configuration settings = new Configuration();
        for (String each : SETTINGS) settings.setString(each.split("=")[0], each.split("=")[1]);
        FileSystem.initialize(settings, null); // else Hadoop's S3A is not taken for files that Flink writes itself
        flink = TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().withConfiguration(settings).build());
        catalog = new HiveCatalog("hive", null, conf, null, "3.1.3");
        flink.registerCatalog("hive", catalog);
        flink.useCatalog("hive");
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err); // Flink's own words are no answers
        FlinkPeer peer = new FlinkPeer(args[1]);
        for (String line : Files.readAllLines(Path.of(args[0]))) out.println(JSON.writeValueAsString(peer.answer(line)));
        peer.catalog.close();
        System.exit(0); // threads of the mini cluster stay
    }

    private Map<String, Object> answer(String line) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("sql", line);
        try {
            answer.put("rows", line.startsWith("@") ? called(line.substring(1).split(" ")) : selected(line));
        } catch (Throwable failure) {
            failure.printStackTrace();
            answer.put("error", causes(failure));
        }
        return answer;
    }

    private static String causes(Throwable failure) {
        List<String> all = new ArrayList<>();
        for (Throwable each = failure; each != null; each = each.getCause()) all.add(each.getClass().getSimpleName() + ": " + each.getMessage());
        return String.join("; because ", all);
    }

    private List<String> selected(String sql) throws Exception {
        TableResult result = flink.executeSql(sql);
        if (sql.startsWith("INSERT") || sql.contains(" AS SELECT") && sql.startsWith("CREATE TABLE")) { // they answer a job
            result.await();
            return List.of();
        }
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> each = result.collect()) {
            each.forEachRemaining(row -> rows.add(cells(row)));
        }
        return rows;
    }

    private static String cells(Row row) {
        List<String> cells = new ArrayList<>();
        for (int i = 0; i < row.getArity(); i++) cells.add(String.valueOf(row.getField(i)));
        return String.join("\t", cells);
    }

    private List<String> called(String[] words) throws Exception {
        ObjectPath table = new ObjectPath(flink.getCurrentDatabase(), words[1]);
        CatalogPartitionSpec partition = words.length < 3 || words[2].equals("-") ? null : partition(words[2]);
        String[] rest = words.length < 4 ? new String[0] : Arrays.copyOfRange(words, 3, words.length);
        switch (words[0]) {
            case "exists": return List.of(String.valueOf(catalog.tableExists(table)));
            case "partitions": return partitions(table, partition);
            case "parameters": return parameters(table, partition);
            case "statistics": return partition == null
                ? told(catalog.getTableStatistics(table), catalog.getTableColumnStatistics(table))
                : told(catalog.getPartitionStatistics(table, partition), catalog.getPartitionColumnStatistics(table, partition));
            case "statistics-of-all": return all(table);
            case "put-counts": return putCounts(table, partition, new CatalogTableStatistics(number(rest[0]), number(rest[1]).intValue(), number(rest[2]), number(rest[3])));
            case "put-column": return putColumn(table, partition, new CatalogColumnStatistics(Map.of(rest[0], made(rest))));
            default: throw new IllegalArgumentException("no call " + words[0]);
        }
    }

    private List<String> partitions(ObjectPath table, CatalogPartitionSpec part) throws Exception {
        List<CatalogPartitionSpec> found = part == null ? catalog.listPartitions(table) : catalog.listPartitions(table, part);
        return found.stream().map(each -> each.getPartitionSpec().toString()).sorted().collect(Collectors.toList());
    }

    private List<String> parameters(ObjectPath table, CatalogPartitionSpec partition) throws Exception {
        Map<String, String> found = partition == null ? catalog.getHiveTable(table).getParameters() : catalog.getPartition(table, partition).getProperties();
        return new TreeMap<>(found).entrySet().stream().map(String::valueOf).collect(Collectors.toList());
    }

    private List<String> all(ObjectPath table) throws Exception {
        List<CatalogPartitionSpec> partitions = new ArrayList<>(catalog.listPartitions(table));
        partitions.sort((one, other) -> one.toString().compareTo(other.toString()));
        List<CatalogTableStatistics> counts = catalog.bulkGetPartitionStatistics(table, partitions);
        List<CatalogColumnStatistics> columns = catalog.bulkGetPartitionColumnStatistics(table, partitions);
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < partitions.size(); i++) {
            rows.add(partitions.get(i).toString());
            rows.addAll(told(counts.get(i), columns.get(i)));
        }
        return rows;
    }

    private static List<String> told(CatalogTableStatistics counts, CatalogColumnStatistics columns) {
        List<String> rows = new ArrayList<>();
        rows.add("rows=" + counts.getRowCount() + " files=" + counts.getFileCount() + " bytes=" + counts.getTotalSize() + " raw=" + counts.getRawDataSize());
        new TreeMap<>(columns.getColumnStatisticsData()).forEach((name, found) -> rows.add(name + " " + found));
        return rows;
    }

    private List<String> putCounts(ObjectPath table, CatalogPartitionSpec partition, CatalogTableStatistics counts) throws Exception {
        if (partition == null) catalog.alterTableStatistics(table, counts, false);
        else catalog.alterPartitionStatistics(table, partition, counts, false);
        return List.of();
    }

    private List<String> putColumn(ObjectPath table, CatalogPartitionSpec partition, CatalogColumnStatistics column) throws Exception {
        if (partition == null) catalog.alterTableColumnStatistics(table, column, false);
        else catalog.alterPartitionColumnStatistics(table, partition, column, false);
        return List.of();
    }

    private static CatalogPartitionSpec partition(String text) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String each : text.split(",")) values.put(each.split("=", 2)[0], each.split("=", 2)[1]);
        return new CatalogPartitionSpec(values);
    }

    /** COLUMN KIND, then the numbers in the order of the constructor of the kind. */
    private static CatalogColumnStatisticsDataBase made(String[] a) {
        switch (a[1]) {
            case "long": return new CatalogColumnStatisticsDataLong(number(a[2]), number(a[3]), number(a[4]), number(a[5]));
            case "double": return new CatalogColumnStatisticsDataDouble(Double.valueOf(a[2]), Double.valueOf(a[3]), number(a[4]), number(a[5]));
            case "string": return new CatalogColumnStatisticsDataString(number(a[2]), Double.valueOf(a[3]), number(a[4]), number(a[5]));
            case "boolean": return new CatalogColumnStatisticsDataBoolean(number(a[2]), number(a[3]), number(a[4]));
            case "binary": return new CatalogColumnStatisticsDataBinary(number(a[2]), Double.valueOf(a[3]), number(a[4]));
            case "date": return new CatalogColumnStatisticsDataDate(new Date(number(a[2])), new Date(number(a[3])), number(a[4]), number(a[5]));
            default: throw new IllegalArgumentException("no kind " + a[1]);
        }
    }

    private static Long number(String text) {
        return text.equals("-") ? null : Long.valueOf(text);
    }
}
