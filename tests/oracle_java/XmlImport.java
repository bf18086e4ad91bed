import java.io.BufferedInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.api.core.management.QueueControl;
import org.apache.activemq.artemis.cli.commands.tools.xml.XmlDataImporter;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;

/**
 * Brings files for "artemis data imp" into new brokers. Arguments in pairs: the file, the data directory to make.
 * A line of standard output for each: "done FILE", or "failed FILE ERROR". With --twice in front each is imported two
 * times, and after each time a line tells of every queue: "queue", name, address, routing type, messages, bytes of their
 * bodies, with tabs between them.
 */
public final class XmlImport {

   public static void main(String[] args) throws Exception {
      boolean twice = args.length > 0 && args[0].equals("--twice");
      for (int n = twice ? 1 : 0; n + 1 < args.length; n += 2) {
         ActiveMQServerImpl server = start(Path.of(args[n + 1]).toAbsolutePath());
         try {
            for (int time = 0; time < (twice ? 2 : 1); time++) {
               try {
                  bring(Path.of(args[n]));
                  System.out.println("done " + args[n]);
               } catch (Throwable failed) {
                  System.out.println("failed " + args[n] + " " + String.valueOf(failed).replace('\n', ' '));
               }
               if (twice) {
                  tell(server);
               }
            }
         } finally {
            server.stop();
         }
      }
      System.exit(0);
   }

   static ActiveMQServerImpl start(Path data) throws Exception {
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
      return server;
   }

   static void tell(ActiveMQServerImpl server) throws Exception {
      try (ServerLocator locator = ActiveMQClient.createServerLocator("vm://0");
           ClientSessionFactory factory = locator.createSessionFactory();
           ClientSession session = factory.createSession(false, true, true)) {
         session.start();
         for (Object each : server.getManagementService().getResources(QueueControl.class)) {
            QueueControl queue = (QueueControl) each;
            long bytes = 0;
            try (ClientConsumer consumer = session.createConsumer(queue.getName(), true)) {
               for (ClientMessage message = consumer.receive(500); message != null; message = consumer.receive(500)) {
                  bytes += message.getBodySize();
                  message.acknowledge();
               }
            }
            if (!queue.getName().startsWith("activemq.") && !queue.isTemporary()) {
               System.out.println(String.join("\t", "queue", queue.getName(), queue.getAddress(),
                  queue.getRoutingType(), String.valueOf(queue.getMessageCount()), String.valueOf(bytes)));
            }
         }
      }
   }

   static void bring(Path file) throws Exception {
      try (ServerLocator locator = ActiveMQClient.createServerLocator("vm://0");
           ClientSessionFactory factory = locator.createSessionFactory();
           ClientSession session = factory.createSession(false, true, true);
           ClientSession management = factory.createSession(false, true, true);
           InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
         management.start();
         new XmlDataImporter().process(in, session, management);
      }
   }
}
