import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.catalog.*;
import org.apache.iceberg.exceptions.*;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.rest.*;
import org.apache.iceberg.rest.requests.*;
import org.apache.iceberg.rest.responses.*;

/** A REST catalog of Iceberg's own handlers (CatalogHandlers, as servers use them), its tables' files below a folder: arguments port, folder. */
public class RestCatalogPeer {
    static final ObjectMapper JSON = new ObjectMapper();
    static final InMemoryCatalog TABLES = new InMemoryCatalog();

    public static void main(String[] a) throws Exception {
        JSON.setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY);
        JSON.configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);
        JSON.setPropertyNamingStrategy(new PropertyNamingStrategies.KebabCaseStrategy());
        RESTSerializers.registerAll(JSON);
        TABLES.initialize("peer", Map.of("warehouse", "file://" + a[1]));
        // Its pointers are in memory, and its files on disk, for others to read.
        var io = InMemoryCatalog.class.getDeclaredField("io");
        io.setAccessible(true);
        io.set(TABLES, new HadoopFileIO(new Configuration()));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", RestCatalogPeer::handle);
        server.start();
        System.out.println("ready " + a[0]);
        Thread.currentThread().join();
    }

    static void handle(HttpExchange exchange) {
        try (exchange) {
            int status = 200;
            Object answer;
            try {
                answer = answer(exchange);
            } catch (RuntimeException error) {
                status = error instanceof NoSuchTableException || error instanceof NoSuchNamespaceException || error instanceof NoSuchViewException ? 404
                        : error instanceof CommitFailedException || error instanceof AlreadyExistsException ? 409
                        : error instanceof UnsupportedOperationException ? 406
                        : error instanceof IllegalArgumentException || error instanceof ValidationException ? 400 : 500;
                if (status == 500) error.printStackTrace();
                answer = ErrorResponse.builder().responseCode(status).withType(error.getClass().getSimpleName()).withMessage(String.valueOf(error.getMessage())).build();
            }
            byte[] bytes = answer == null ? new byte[0] : JSON.writeValueAsBytes(answer);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(answer == null ? 204 : status, isHead || answer == null ? -1 : bytes.length);
            if (!isHead && answer != null) exchange.getResponseBody().write(bytes);
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    static Object answer(HttpExchange exchange) throws java.io.IOException {
        String method = exchange.getRequestMethod();
        String[] path = exchange.getRequestURI().getRawPath().split("/");
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (path[2].equals("config")) return ConfigResponse.builder().build();
        if (path.length == 3) {
            return method.equals("GET")
                    ? CatalogHandlers.listNamespaces(TABLES, Namespace.empty())
                    : CatalogHandlers.createNamespace(TABLES, JSON.readValue(body, CreateNamespaceRequest.class));
        }
        Namespace namespace = Namespace.of(URLDecoder.decode(path[3], StandardCharsets.UTF_8).split("\u001f"));
        if (path.length == 4) return CatalogHandlers.loadNamespace(TABLES, namespace);
        if (!path[4].equals("tables")) throw path.length == 5 ? new UnsupportedOperationException("no views") : new NoSuchViewException("no views");
        if (path.length == 5) {
            if (method.equals("GET")) return CatalogHandlers.listTables(TABLES, namespace);
            CreateTableRequest request = JSON.readValue(body, CreateTableRequest.class);
            return request.stageCreate() ? CatalogHandlers.stageTableCreate(TABLES, namespace, request) : CatalogHandlers.createTable(TABLES, namespace, request);
        }
        TableIdentifier table = TableIdentifier.of(namespace, URLDecoder.decode(path[5], StandardCharsets.UTF_8));
        if (method.equals("POST")) return CatalogHandlers.updateTable(TABLES, table, JSON.readValue(body, UpdateTableRequest.class));
        if (method.equals("DELETE")) {
            CatalogHandlers.dropTable(TABLES, table);
            return null;
        }
        return CatalogHandlers.loadTable(TABLES, table, RESTCatalogProperties.SnapshotMode.ALL);
    }
}
