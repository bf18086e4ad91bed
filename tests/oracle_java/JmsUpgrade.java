import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.ConnectionFactory;
import javax.jms.DeliveryMode;
import javax.jms.Destination;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.ObjectMessage;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.StreamMessage;
import javax.jms.TextMessage;
import javax.jms.Topic;

import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.jms.ActiveMQJMSClient;
import org.apache.activemq.artemis.api.jms.JMSFactoryType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * A JMS application before and after an upgrade. Arguments: write or read, the configuration (with an in-vm acceptor), and
 * the filter of the queue that stands for a topic. Names of Artemis; for HornetQ the test renames them before it compiles.
 */
public final class JmsUpgrade {

   static final TransportConfiguration IN_VM = new TransportConfiguration("org.apache.activemq.artemis.core.remoting.impl.invm.InVMConnectorFactory");
   static final String SELECTOR = "JMSPriority > 4 AND color = 'red'";

   public static void main(String[] args) throws Exception {
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(args[1]).toUri().toString());
      broker.start();
      if (args[0].equals("write")) {
         make(args[2]);
      }
      ConnectionFactory factory = (ConnectionFactory) ActiveMQJMSClient.createConnectionFactoryWithoutHA(JMSFactoryType.CF, IN_VM);
      try (Connection connection = factory.createConnection()) {
         connection.setClientID("me.you");
         Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
         Queue queue = ActiveMQJMSClient.createQueue("orders");
         Topic topic = ActiveMQJMSClient.createTopic("news");
         MessageConsumer all = session.createDurableSubscriber(topic, "all");
         MessageConsumer red = session.createDurableSubscriber(topic, "some", SELECTOR, false);
         if (args[0].equals("write")) {
            write(session, queue, topic);
            connection.start();
            redeliver(session, all);
         } else {
            connection.start();
            MessageConsumer orders = session.createConsumer(queue);
            read("orders", session, orders);
            read("all", session, all);
            read("some", session, red);
         }
      }
      broker.stop();
      System.exit(0);
   }

   private static void make(String rejecting) throws Exception {
      try (ClientSessionFactory factory = ActiveMQClient.createServerLocatorWithoutHA(IN_VM).createSessionFactory(); ClientSession session = factory.createSession()) {
         session.createQueue("jms.queue.orders", "jms.queue.orders", null, true);
         session.createQueue("jms.topic.news", "jms.topic.news", rejecting, true);
      }
   }

   private static void write(Session session, Queue queue, Topic topic) throws Exception {
      for (Destination to : List.of(queue, topic)) {
         MessageProducer producer = session.createProducer(to);
         for (int n = 0; n < 40; n++) {
            Message message = message(session, n);
            message.setIntProperty("seq", n);
            message.setStringProperty("color", n % 2 == 0 ? "red" : "blue");
            message.setBooleanProperty("flag", n % 3 == 0);
            message.setDoubleProperty("double", n / 4.0);
            message.setJMSType("type" + n);
            message.setJMSCorrelationID("correlation" + n);
            if (n % 4 == 1) {
               message.setJMSReplyTo(n % 8 == 1 ? ActiveMQJMSClient.createQueue("replies") : topic);
            }
            if (n % 5 == 0) {
               message.setStringProperty("JMSXGroupID", "group");
            }
            producer.setDeliveryDelay(n % 10 == 7 ? 200 : 0);
            producer.send(message, n % 6 == 5 ? DeliveryMode.NON_PERSISTENT : DeliveryMode.PERSISTENT, n % 9, 0);
         }
         session.commit();
      }
   }

   private static Message message(Session session, int n) throws Exception {
      switch (n % 6) {
         case 0: {
            return session.createTextMessage(n == 0 ? null : "text \u20ac " + "x".repeat(n * 20));
         }
         case 1: {
            BytesMessage bytes = session.createBytesMessage();
            bytes.writeBytes(new byte[n == 1 ? 300_000 : n]);
            return bytes;
         }
         case 2: {
            MapMessage map = session.createMapMessage();
            map.setString("string", "s" + n);
            map.setBoolean("yes", true);
            map.setChar("char", '\u00e9');
            map.setBytes("bytes", new byte[] {1, 2, 3});
            return map;
         }
         case 3: {
            StreamMessage stream = session.createStreamMessage();
            stream.writeInt(n);
            stream.writeString("item");
            stream.writeBoolean(true);
            return stream;
         }
         case 4: {
            return session.createObjectMessage(new ArrayList<>(List.of("object", "" + n)));
         }
         default: {
            return session.createMessage();
         }
      }
   }

   /** The first messages of a subscription are given back once, so that they have been delivered before. */
   private static void redeliver(Session session, MessageConsumer consumer) throws Exception {
      for (int n = 0; n < 3; n++) {
         consumer.receive(5_000);
      }
      session.rollback();
   }

   private static void read(String name, Session session, MessageConsumer consumer) throws Exception {
      for (Message message = consumer.receive(3_000); message != null; message = consumer.receive(1_000)) {
         StringBuilder line = new StringBuilder("MESSAGE " + name);
         line.append(' ').append(message.getIntProperty("seq")).append(' ').append(kind(message)).append(' ').append(body(message));
         line.append(" to ").append(destination(message.getJMSDestination())).append(" reply ").append(destination(message.getJMSReplyTo()));
         line.append(' ').append(message.getJMSMessageID()).append(' ').append(message.getJMSType()).append(' ').append(message.getJMSCorrelationID());
         line.append(' ').append(message.getJMSDeliveryMode()).append(' ').append(message.getJMSPriority()).append(' ').append(message.getJMSTimestamp());
         List<String> properties = new ArrayList<>();
         for (Object key : Collections.list(message.getPropertyNames())) {
            properties.add(key.toString().replace("_AMQ_GROUP_ID", "JMSXGroupID").replace("_HQ_GROUP_ID", "JMSXGroupID") + "=" + message.getObjectProperty(key.toString()));
         }
         Collections.sort(properties);
         System.out.println(line + " " + properties);
         session.commit();
      }
   }

   private static String kind(Message message) {
      return message instanceof TextMessage ? "text" : message instanceof BytesMessage ? "bytes" : message instanceof MapMessage ? "map"
         : message instanceof StreamMessage ? "stream" : message instanceof ObjectMessage ? "object" : "message";
   }

   private static Object body(Message message) throws Exception {
      if (message instanceof TextMessage) {
         return ((TextMessage) message).getText();
      } else if (message instanceof BytesMessage) {
         return ((BytesMessage) message).getBodyLength();
      } else if (message instanceof ObjectMessage) {
         return ((ObjectMessage) message).getObject();
      } else if (message instanceof StreamMessage) {
         StreamMessage stream = (StreamMessage) message;
         return stream.readInt() + stream.readString() + stream.readBoolean();
      } else if (message instanceof MapMessage) {
         MapMessage map = (MapMessage) message;
         return map.getString("string") + map.getBoolean("yes") + map.getChar("char") + map.getBytes("bytes").length;
      }
      return "";
   }

   private static String destination(Destination destination) throws Exception {
      return destination == null ? "none" : destination instanceof Queue ? "queue " + ((Queue) destination).getQueueName() : "topic " + ((Topic) destination).getTopicName();
   }
}
