import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.security.PrivilegedExceptionAction;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/**
 * Hive's own client, which gets, uses, renews and cancels delegation tokens. Arguments: service principal, protection.
 *
 * Reads a command a line, and answers each with a line, `ok ANSWER` or `refused REASON`:
 *
 * get PORT USER KEYTAB OWNER RENEWER, renew PORT USER KEYTAB TOKEN, cancel PORT USER KEYTAB TOKEN, keys PORT USER KEYTAB:
 * with the ticket of a keytab; use PORT TOKEN (lists databases), buy PORT TOKEN OWNER, leave PORT TOKEN (cancels it): with
 * a token.
 */
public class TokenClient {
    private static Configuration conf;

    public static void main(String[] args) throws Exception {
        conf = MetastoreConf.newMetastoreConf();
        conf.set("hadoop.security.authentication", "kerberos");
        conf.set("hadoop.rpc.protection", args[1]);
        conf.set("metastore.sasl.enabled", "true");
        conf.set("metastore.kerberos.principal", args[0]);
        conf.set("metastore.thrift.failure.retries", "0");
        conf.set("metastore.connect.retries", "1");
        UserGroupInformation.setConfiguration(conf);
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            try {
                conf.set("metastore.thrift.uris", "thrift://localhost:" + words[1]);
                System.out.println("ok " + user(words).doAs((PrivilegedExceptionAction<String>) () -> asked(words)));
            } catch (Throwable error) {
                Throwable cause = error instanceof java.lang.reflect.UndeclaredThrowableException ? error.getCause() : error;
                System.out.println("refused " + String.valueOf(cause.getMessage()).replaceAll("\\s+", " "));
            }
        }
    }

    private static UserGroupInformation user(String[] words) throws Exception {
        if (!words[0].matches("use|buy|leave")) {
            return UserGroupInformation.loginUserFromKeytabAndReturnUGI(words[2], words[3]);
        }
        UserGroupInformation user = UserGroupInformation.createRemoteUser("whoever");
        Token<?> token = new Token<>();
        token.decodeFromUrlString(words[2]);
        user.addToken(token);
        return user;
    }

    private static String asked(String[] words) throws Exception {
        HiveMetaStoreClient client = new HiveMetaStoreClient(conf);
        try {
            switch (words[0]) {
                case "get":
                    return client.getDelegationToken(words[4], words[5]);
                case "renew":
                    return "" + client.renewDelegationToken(words[4]);
                case "cancel":
                    client.cancelDelegationToken(words[4]);
                    return "";
                case "leave":
                    client.cancelDelegationToken(words[2]);
                    return "";
                case "buy":
                    return client.getDelegationToken(words[3], words[3]);
                case "keys":
                    return String.join(",", client.getMasterKeys());
                default:
                    return String.join(",", client.getAllDatabases());
            }
        } finally {
            client.close();
        }
    }
}
