import java.nio.file.Path;

import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * A broker that is sent messages, emptied of some, and stopped. Arguments: broker.xml (with an acceptor vm://0), then
 * ADDRESS+N to send N messages of a KiB, QUEUE-N to take N. What examples/candlepin.tar.gz was made with.
 */
public final class SendAndTake {

   public static void main(String[] args) throws Exception {
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(args[0]).toUri().toString());
      broker.start();
      try (ClientSessionFactory factory = ActiveMQClient.createServerLocator("vm://0").createSessionFactory(); ClientSession session = factory.createSession()) {
         session.start();
         for (int n = 1; n < args.length; n++) {
            String[] send = args[n].split("\\+");
            String[] take = args[n].split("-(?=\\d+$)");
            if (send.length == 2) {
               send(session, send[0], Integer.parseInt(send[1]));
            } else {
               take(session, take[0], Integer.parseInt(take[1]));
            }
         }
      }
      broker.stop();
      System.exit(0);
   }

   private static void send(ClientSession session, String address, int count) throws Exception {
      try (ClientProducer producer = session.createProducer(address)) {
         for (int n = 0; n < count; n++) {
            ClientMessage message = session.createMessage(true);
            message.putIntProperty("seq", n);
            message.getBodyBuffer().writeBytes(new byte[1024]);
            producer.send(message);
         }
      }
      session.commit();
   }

   private static void take(ClientSession session, String queue, int count) throws Exception {
      try (ClientConsumer consumer = session.createConsumer(queue)) {
         for (int n = 0; n < count; n++) {
            ClientMessage message = consumer.receive(10_000);
            if (message == null) {
               throw new IllegalStateException(queue + ": only " + n + " of " + count);
            }
            message.acknowledge();
            session.commit();
         }
      }
   }
}
