import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.api.Schema;
import org.apache.hadoop.hive.ql.IDriver;
import org.apache.hadoop.hive.ql.processors.CommandProcessor;
import org.apache.hadoop.hive.ql.processors.CommandProcessorFactory;
import org.apache.hadoop.hive.ql.session.SessionState;

/** Hive's query engine, 3 or 4, in this JVM: each line of a file is a statement; each line of JSON on standard output is what it answered. */
public final class HiveSession {
    private final SessionState session;

    private HiveSession(HiveConf conf) throws Exception {
        session = new SessionState(conf);
        session.out = Release.nowhere();
        session.err = Release.nowhere();
        session.info = Release.nowhere();
        SessionState.start(session);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        HiveSession session = new HiveSession(new HiveConf(SessionState.class));
        for (String line : Files.readAllLines(Path.of(arguments[0]), StandardCharsets.UTF_8)) {
            if (line.isBlank() || line.startsWith("--")) continue;
            long began = System.nanoTime();
            answers.println(session.answer(line.strip()));
            System.err.printf("%.2f s: %s%n", (System.nanoTime() - began) / 1e9, line);
        }
        session.session.close();
        System.exit(0);
    }

    private String answer(String sql) {
        List<String> fields = new ArrayList<>(List.of("\"sql\": " + quoted(sql)));
        try (CommandProcessor processor = CommandProcessorFactory.get(sql.split("\\s+"), session.getConf())) {
            if (processor instanceof IDriver) {
                query((IDriver) processor, sql, fields);
            } else {
                Release.run(processor, sql.substring(sql.split("\\s+")[0].length()).strip());
            }
        } catch (Throwable failure) {
            if (System.getenv("HIVE_SESSION_TRACE") != null) failure.printStackTrace();
            fields.add("\"error\": " + quoted(String.valueOf(Release.reason(failure))));
        }
        return "{" + String.join(", ", fields) + "}";
    }

    private static void query(IDriver driver, String sql, List<String> fields) throws Exception {
        Release.run(driver, sql);
        Schema schema = driver.getSchema();
        if (schema != null && schema.getFieldSchemas() != null && !schema.getFieldSchemas().isEmpty()) {
            fields.add("\"columns\": " + schema.getFieldSchemas().stream().map(each -> quoted(each.getName() + " " + each.getType())).collect(LIST));
        }
        List<Object> all = new ArrayList<>();
        List<Object> some = new ArrayList<>();
        while (driver.getResults(some)) {
            all.addAll(some);
            some.clear();
        }
        fields.add("\"rows\": " + all.stream().map(each -> quoted(String.valueOf(each))).collect(LIST));
    }

    private static final java.util.stream.Collector<CharSequence, ?, String> LIST = Collectors.joining(", ", "[", "]");

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(each -> {
            if (each == '"' || each == '\\') quoted.append('\\').append((char) each);
            else if (each < ' ') quoted.append(String.format("\\u%04x", each));
            else quoted.append((char) each);
        });
        return quoted.append('"').toString();
    }
}
