import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.UserGroupInformation;

/** A name node and a data node of HDFS in one process: HdfsPeer FOLDER PORT [NAME=VALUE ...]. Prints "ready PORT". */
class HdfsPeer {
    public static void main(String[] given) throws Exception {
        Configuration settings = new Configuration();
        settings.set("fs.defaultFS", "hdfs://127.0.0.1:" + given[1]);
        settings.set("dfs.namenode.name.dir", new File(given[0], "names").toURI().toString());
        settings.set("dfs.datanode.data.dir", new File(given[0], "data").toURI().toString());
        settings.set("dfs.replication", "1");
        settings.set("dfs.datanode.hostname", "127.0.0.1");
        for (String address : new String[] {"dfs.namenode.http-address", "dfs.datanode.address",
                "dfs.datanode.http.address", "dfs.datanode.ipc.address"}) {
            settings.set(address, "127.0.0.1:0");
        }
        for (int number = 2; number < given.length; number++) {
            String[] setting = given[number].split("=", 2);
            settings.set(setting[0], setting[1]);
        }
        UserGroupInformation.setConfiguration(settings);
        DefaultMetricsSystem.setMiniClusterMode(true); // else only one of its kind may register, and formatting does
        NameNode.format(settings);
        NameNode names = NameNode.createNameNode(new String[] {}, settings);
        DataNode.createDataNode(new String[] {}, settings);
        while (names.isInSafeMode() || names.getNamesystem().getNumLiveDataNodes() < 1) {
            Thread.sleep(50);
        }
        System.out.println("ready " + names.getNameNodeAddress().getPort());
        names.join();
    }
}
