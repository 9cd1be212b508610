import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hive.metastore.api.FieldSchema;
import org.apache.hadoop.hive.ql.exec.ColumnInfo;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.optimizer.ppr.PartitionExpressionForMetastore;
import org.apache.hadoop.hive.ql.parse.ASTNode;
import org.apache.hadoop.hive.ql.parse.ParseUtils;
import org.apache.hadoop.hive.ql.parse.RowResolver;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.session.SessionState;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.serde2.typeinfo.PrimitiveTypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;

/**
 * Writes conditions over partition keys as one generation of Hive does, and says which partitions Hive finds with the bytes.
 *
 * Input, a line each: keys (`region string, y int`), names of partitions (`region=eu/y=2019 ...`), then conditions in SQL. An empty
 * line ends such a group. Output, a line of JSON each: the condition, its bytes in base64, the names, whether any is unknown.
 * With the argument `layouts` it writes instead how Kryo lays out the classes whose names are read.
 */
public final class PartitionExpressions {
    private static final String DEFAULT = "__HIVE_DEFAULT_PARTITION__";
    private static final String TYPES = "org.apache.hadoop.hive.ql.parse.";
    private static final String NEWER_TYPES = TYPES + "type.";

    public static void main(String[] arguments) throws Exception {
        ClassLoader own = PartitionExpressions.class.getClassLoader();
        if (!(own instanceof URLClassLoader)) {   // Hive 3.1 wants one, which Java has not given it since version 9
            ClassLoader loader = new URLClassLoader(classPath(), own.getParent());
            Thread.currentThread().setContextClassLoader(loader);
            loader.loadClass(PartitionExpressions.class.getName()).getMethod("main", String[].class).invoke(null, (Object) arguments);
            return;
        }
        PrintStream out = System.out;
        System.setOut(System.err);
        HiveConf conf = new HiveConf(PartitionExpressions.class);
        conf.set("hive.fetch.task.conversion", "none");
        SessionState.setCurrentSessionState(new SessionState(conf));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        if (arguments.length > 0 && arguments[0].equals("layouts")) {
            Layouts.print(in, out);
            System.exit(0);
        }
        List<FieldSchema> keys = null;
        List<String> names = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.trim().isEmpty()) { keys = null; names = null; }
            else if (keys == null) keys = columns(line);
            else if (names == null) names = Arrays.asList(line.trim().split(" "));
            else out.println(written(line.trim(), keys, names));
        }
        out.flush();
        System.exit(0);
    }

    private static URL[] classPath() throws Exception {
        List<URL> places = new ArrayList<>();
        for (String each : System.getProperty("java.class.path").split(File.pathSeparator)) places.add(new File(each).toURI().toURL());
        return places.toArray(new URL[0]);
    }

    private static List<FieldSchema> columns(String line) {
        List<FieldSchema> found = new ArrayList<>();
        for (String each : line.split(", ")) {
            String[] words = each.trim().split(" ", 2);
            found.add(new FieldSchema(words[0], words[1], null));
        }
        return found;
    }

    private static String written(String condition, List<FieldSchema> keys, List<String> names) {
        StringBuilder json = new StringBuilder("{\"sql\": ").append(quoted(condition));
        try {
            ExprNodeDesc expression = expression(condition, keys);
            json.append(", \"expression\": ").append(quoted(expression.getExprString()));
            byte[] bytes = bytes(expression);
            json.append(", \"bytes\": ").append(quoted(Base64.getEncoder().encodeToString(bytes)));
            List<String> found = new ArrayList<>(names);
            boolean unknown = find(keys, bytes, found);
            json.append(", \"found\": [");
            String comma = "";
            for (String each : found) {
                json.append(comma).append(quoted(each));
                comma = ", ";
            }
            json.append("], \"unknown\": ").append(unknown);
        } catch (Throwable failure) {
            Throwable cause = failure instanceof InvocationTargetException ? failure.getCause() : failure;
            if (System.getenv("TRACE") != null) cause.printStackTrace();
            json.append(", \"error\": ").append(quoted(String.valueOf(cause)));
        }
        return json.append("}").toString();
    }

    /** The condition as Hive's compiler types it, with the casts that it adds. */
    private static ExprNodeDesc expression(String condition, List<FieldSchema> keys) throws Exception {
        RowResolver row = new RowResolver();
        for (FieldSchema key : keys) {
            row.put("t", key.getName(), new ColumnInfo(key.getName(), TypeInfoUtils.getTypeInfoFromTypeString(key.getType()), "t", true));
        }
        ASTNode tree = find(ParseUtils.parse("SELECT 1 FROM t WHERE " + condition, null), "TOK_WHERE");
        ASTNode where = (ASTNode) tree.getChild(0);
        Class<?> context, factory;
        try {
            context = Class.forName(NEWER_TYPES + "TypeCheckCtx");
            factory = Class.forName(NEWER_TYPES + "ExprNodeTypeCheck");
        } catch (ClassNotFoundException older) {
            context = Class.forName(TYPES + "TypeCheckCtx");
            factory = Class.forName(TYPES + "TypeCheckProcFactory");
        }
        Constructor<?> made = context.getConstructor(RowResolver.class);
        Object types = made.newInstance(row);
        Map<?, ?> nodes = (Map<?, ?>) factory.getMethod("genExprNode", ASTNode.class, context).invoke(null, where, types);
        Object found = nodes.get(where);
        if (found == null) throw new IllegalArgumentException(String.valueOf(context.getMethod("getError").invoke(types)));
        return (ExprNodeDesc) found;
    }

    private static ASTNode find(ASTNode tree, String word) {
        if (tree.getText() != null && tree.getText().equals(word)) return tree;
        for (int i = 0; i < tree.getChildCount(); i++) {
            ASTNode found = find((ASTNode) tree.getChild(i), word);
            if (found != null) return found;
        }
        return null;
    }

    private static byte[] bytes(ExprNodeDesc expression) throws Exception {
        for (Method each : SerializationUtilities.class.getMethods()) {
            if (each.getName().equals("serializeObjectWithTypeInformation") || each.getName().equals("serializeExpressionToKryo")) {
                return (byte[]) each.invoke(null, expression);
            }
        }
        throw new IllegalStateException("no way to write an expression");
    }

    private static boolean find(List<FieldSchema> keys, byte[] bytes, List<String> names) throws Exception {
        PartitionExpressionForMetastore proxy = new PartitionExpressionForMetastore();
        for (Method each : PartitionExpressionForMetastore.class.getMethods()) {
            if (!each.getName().equals("filterPartitionsByExpr")) continue;
            if (each.getParameterCount() == 4) return (Boolean) each.invoke(proxy, keys, bytes, DEFAULT, names);
            List<String> columns = new ArrayList<>();
            List<PrimitiveTypeInfo> types = new ArrayList<>();
            for (FieldSchema key : keys) {
                columns.add(key.getName());
                types.add((PrimitiveTypeInfo) TypeInfoUtils.getTypeInfoFromTypeString(key.getType()));
            }
            return (Boolean) each.invoke(proxy, columns, types, bytes, DEFAULT, names);
        }
        throw new IllegalStateException("no way to find partitions");
    }

    static String quoted(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < ' ' || c > '~') b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        }
        return b.append('"').toString();
    }
}
