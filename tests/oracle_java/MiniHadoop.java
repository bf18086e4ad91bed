import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A YARN cluster of one node beside an HDFS of one node, on this machine. Writes its configuration into a folder, says
 * so on standard output, and lives until standard input ends. {@code MiniHadoop CONFIGURATION-FOLDER DATA-FOLDER}; with
 * a third word, {@code hdfs}, there is no YARN, and HDFS looks at permissions and has a folder for its owner alone.
 */
public final class MiniHadoop {
    public static void main(String[] given) throws Exception {
        Configuration conf = new YarnConfiguration();
        conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, given[1] + "/dfs");
        boolean alone = given.length > 2;
        conf.setBoolean("dfs.permissions.enabled", alone);
        conf.set("dfs.namenode.fs-limits.min-block-size", "1024");
        MiniDFSCluster files = new MiniDFSCluster.Builder(conf).numDataNodes(1).format(true).build();
        files.waitActive();
        if (alone) {
            files.getFileSystem().mkdirs(new Path("/closed"), new FsPermission((short) 0700));
        } else {
            startYarn(conf, files, given);
        }
        System.out.println("ready " + files.getURI() + " " + files.getHttpUri(0));
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }

    private static void startYarn(Configuration conf, MiniDFSCluster files, String[] given) throws Exception {
        File folder = new File(given[0]);
        YarnConfiguration yarn = new YarnConfiguration(conf);
        yarn.set("fs.defaultFS", files.getURI().toString());
        yarn.setInt("yarn.scheduler.minimum-allocation-mb", 256);
        yarn.setInt("yarn.nodemanager.resource.memory-mb", 4096);
        yarn.setInt("yarn.nodemanager.resource.cpu-vcores", 4);
        yarn.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
        yarn.setBoolean("yarn.nodemanager.pmem-check-enabled", false);
        yarn.setBoolean("yarn.nodemanager.disk-health-checker.enable", false);
        yarn.set("yarn.nodemanager.env-whitelist", "JAVA_HOME");
        yarn.set("yarn.scheduler.capacity.root.queues", "default");
        yarn.set("yarn.scheduler.capacity.root.default.capacity", "100");
        yarn.set("yarn.scheduler.capacity.root.default.maximum-am-resource-percent", "0.9");
        System.setProperty("test.build.data", given[1] + "/yarn");
        MiniYARNCluster cluster = new MiniYARNCluster("mini", 1, 1, 1);
        cluster.init(yarn);
        cluster.start();

        Configuration used = cluster.getConfig();
        used.set("yarn.application.classpath", "");
        used.unset("net.topology.node.switch.mapping.impl");
        for (String name : new String[] {"core-site.xml", "yarn-site.xml", "hdfs-site.xml"}) {
            try (OutputStream out = new FileOutputStream(new File(folder, name))) {
                used.writeXml(out);
            }
        }
    }
}
