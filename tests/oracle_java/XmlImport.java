import java.io.BufferedInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.cli.commands.tools.xml.XmlDataImporter;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;

/**
 * Brings files for "artemis data imp" into new brokers. Arguments in pairs: the file, the data directory to make.
 * A line of standard output for each: "done FILE", or "failed FILE ERROR".
 */
public final class XmlImport {

   public static void main(String[] args) {
      for (int n = 0; n + 1 < args.length; n += 2) {
         try {
            bring(Path.of(args[n]), Path.of(args[n + 1]).toAbsolutePath());
            System.out.println("done " + args[n]);
         } catch (Throwable failed) {
            System.out.println("failed " + args[n] + " " + failed);
         }
      }
      System.exit(0);
   }

   static void bring(Path file, Path data) throws Exception {
      ConfigurationImpl configuration = new ConfigurationImpl();
      configuration.setPersistenceEnabled(true).setSecurityEnabled(false).setJournalType(JournalType.NIO);
      configuration.setJournalFileSize(1 << 20).setJMXManagementEnabled(false).setGracefulShutdownEnabled(false);
      configuration.setBindingsDirectory(data.resolve("bindings").toString());
      configuration.setJournalDirectory(data.resolve("journal").toString());
      configuration.setPagingDirectory(data.resolve("paging").toString());
      configuration.setLargeMessagesDirectory(data.resolve("large-messages").toString());
      configuration.addAcceptorConfiguration(
         new TransportConfiguration("org.apache.activemq.artemis.core.remoting.impl.invm.InVMAcceptorFactory"));
      ActiveMQServerImpl server = new ActiveMQServerImpl(configuration);
      server.start();
      if (!server.waitForActivation(60, TimeUnit.SECONDS)) {
         throw new IllegalStateException("the broker did not start");
      }
      try (ServerLocator locator = ActiveMQClient.createServerLocator("vm://0");
           ClientSessionFactory factory = locator.createSessionFactory();
           ClientSession session = factory.createSession(false, true, true);
           ClientSession management = factory.createSession(false, true, true);
           InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
         management.start();
         new XmlDataImporter().process(in, session, management);
      } finally {
         server.stop();
      }
   }
}
