import java.util.HashMap;
import java.util.Map;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.api.Database;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Hive's own client with a ticket. Arguments: port, service principal, then nothing or user, keytab, bytes, protections.
 *
 * With nothing more it lists the databases with the tickets of the file KRB5CCNAME, and prints `databases: NAME ...`.
 * With the key of a keytab, under each protection (values of hadoop.rpc.protection) it makes a database with parameters
 * of so many bytes, reads and drops it, and prints `PROTECTION BYTES`, or `PROTECTION refused: REASON`.
 */
public class TicketClient {
    public static void main(String[] args) throws Exception {
        Configuration conf = MetastoreConf.newMetastoreConf();
        conf.set("hadoop.security.authentication", "kerberos");
        conf.set("metastore.thrift.uris", "thrift://localhost:" + args[0]);
        conf.set("metastore.sasl.enabled", "true");
        conf.set("metastore.kerberos.principal", args[1]);
        conf.set("metastore.thrift.failure.retries", "0");
        conf.set("metastore.connect.retries", "1");
        UserGroupInformation.setConfiguration(conf);
        if (args.length == 2) {
            conf.set("hadoop.rpc.protection", "authentication,integrity,privacy");
            System.out.println("databases: " + String.join(" ", new HiveMetaStoreClient(conf).getAllDatabases()));
            return;
        }
        UserGroupInformation.loginUserFromKeytab(args[2], args[3]);
        Map<String, String> large = new HashMap<>();
        for (int left = Integer.parseInt(args[4]); left > 0; left -= 1000) {
            large.put("key" + left, "x".repeat(1000));
        }
        for (int i = 5; i < args.length; i++) {
            conf.set("hadoop.rpc.protection", args[i]);
            try {
                System.out.println(args[i] + " " + asked(conf, "made_under_" + i, large));
            } catch (Exception error) {
                System.out.println(args[i] + " refused: " + String.valueOf(error.getMessage()).replaceAll("\\s+", " "));
            }
        }
    }

    private static String asked(Configuration conf, String name, Map<String, String> large) throws Exception {
        HiveMetaStoreClient client = new HiveMetaStoreClient(conf);
        Database made = new Database(name, "", null, large);
        client.createDatabase(made);
        Database read = client.getDatabase(name);
        client.dropDatabase(name);
        client.close();
        return "" + read.getParameters().values().stream().mapToInt(String::length).sum();
    }
}
