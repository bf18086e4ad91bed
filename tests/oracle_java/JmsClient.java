import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;

import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.ConnectionFactory;
import javax.jms.DeliveryMode;
import javax.jms.Destination;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageEOFException;
import javax.jms.MessageProducer;
import javax.jms.ObjectMessage;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.StreamMessage;
import javax.jms.TextMessage;
import javax.jms.Topic;

import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.apache.qpid.jms.JmsConnectionFactory;

/**
 * JMS applications: one with the client of Artemis ("core"), one with that of Qpid ("amqp"). Each line of standard input
 * is a command, its words between tabs: PORT is that of the broker, DESTINATION queue:NAME or topic:NAME.
 *
 *   subscribe PORT core TOPIC NAME          a shared durable subscription: "end 0"
 *   send PORT CLIENT DESTINATION SEED       messages of all kinds, with all that a sender may set: "end N"
 *   take PORT CLIENT DESTINATION COUNT      a line for each message, then "end N"; fewer, where none comes for two seconds
 *
 * A line of a message holds NAME=VALUE between tabs: each header, property (with its class) and part of the body.
 */
public final class JmsClient {

   private static final long DAY = 86_400_000;

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
         String[] words = line.split("\t");
         String end = "0";
         try (Connection connection = factory(words[2], words[1]).createConnection();
              Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
            connection.start();
            switch (words[0]) {
               case "subscribe" -> session.createSharedDurableConsumer(session.createTopic(words[3]), words[4]).close();
               case "send" -> end = "" + sent(session, destination(session, words[3]), Long.parseLong(words[4]));
               default -> end = "" + taken(session, destination(session, words[3]), Integer.parseInt(words[4]), out);
            }
         } catch (Exception failed) {
            end = failed.toString().replace('\n', ' ');
         }
         out.println("end " + end);
      }
   }

   private static ConnectionFactory factory(String client, String port) {
      if (client.equals("core")) {
         return new ActiveMQConnectionFactory("tcp://127.0.0.1:" + port + "?compressLargeMessage=false");
      }
      return new JmsConnectionFactory("amqp://127.0.0.1:" + port + "?jms.localMessageExpiry=false");
   }

   private static Destination destination(Session session, String text) throws Exception {
      String[] parts = text.split(":", 2);
      return parts[0].equals("topic") ? session.createTopic(parts[1]) : session.createQueue(parts[1]);
   }

   // -- sending --------------------------------------------------------------------------------------------------------

   private static int sent(Session session, Destination to, long seed) throws Exception {
      Random random = new Random(seed);
      List<Message> messages = bodies(session);
      int count = 0;
      try (MessageProducer producer = session.createProducer(to)) {
         for (int round = 0; round < 4; round++) {
            for (Message message : messages) {
               message.clearProperties();
               message.setIntProperty("seq", (int) seed * 1000 + count);
               headers(session, message, count);
               properties(message, random, round);
               producer.setDeliveryDelay(count % 11 == 10 ? DAY : 0);
               int mode = count % 5 == 4 ? DeliveryMode.NON_PERSISTENT : DeliveryMode.PERSISTENT;
               producer.send(message, mode, count % 10, count % 7 == 6 ? 2 * DAY : 0);
               count++;
            }
         }
      }
      return count;
   }

   private static List<Message> bodies(Session session) throws Exception {
      List<Message> made = new ArrayList<>();
      made.add(session.createMessage());
      for (String text : new String[] {null, "", "plain", "Gr\u00fc\u00dfe \ud83d\ude00 \u0000 \n", "x".repeat(3000), "\u00e9".repeat(200_000)}) {
         made.add(session.createTextMessage(text));
      }
      for (int size : new int[] {0, 1, 1000, 300_000}) {
         BytesMessage bytes = session.createBytesMessage();
         byte[] content = new byte[size];
         new Random(size).nextBytes(content);
         bytes.writeBytes(content);
         made.add(bytes);
      }
      MapMessage map = session.createMapMessage();
      made.add(session.createMapMessage());
      values().forEach((name, value) -> done(() -> {
         map.setObject(name, value);
         return null;
      }));
      made.add(map);
      StreamMessage stream = session.createStreamMessage();
      for (Object value : values().values()) {
         stream.writeObject(value);
      }
      made.add(session.createStreamMessage());
      made.add(stream);
      for (Serializable value : new Serializable[] {null, "text", 7L, new ArrayList<>(List.of("a", 1, 2.5)), "y".repeat(250_000)}) {
         made.add(session.createObjectMessage(value));
      }
      return made;
   }

   private static Map<String, Object> values() {
      Map<String, Object> made = new TreeMap<>();
      made.put("boolean", true);
      made.put("byte", (byte) -7);
      made.put("bytes", new byte[] {0, 1, -1});
      made.put("char", '\u20ac');
      made.put("double", -1.5e300);
      made.put("float", 1.25f);
      made.put("int", Integer.MIN_VALUE);
      made.put("long", Long.MAX_VALUE);
      made.put("nan", Double.NaN);
      made.put("nothing", null);
      made.put("short", (short) 300);
      made.put("text", "\u4e2d\u6587 'quoted' <&>");
      made.put("void", "");
      return made;
   }

   private static void headers(Session session, Message message, int count) throws Exception {
      message.setJMSCorrelationID(null);
      switch (count % 6) {
         case 1 -> message.setJMSCorrelationID("an order");
         case 2 -> message.setJMSCorrelationID("ID:" + new java.util.UUID(7, count));
         case 3 -> message.setJMSCorrelationIDAsBytes(new byte[] {1, 0, -2, 65, (byte) count});
         case 4 -> message.setJMSCorrelationIDAsBytes("bytes that are text".getBytes(StandardCharsets.UTF_8));
         case 5 -> message.setJMSCorrelationID("\u00fc \ud83d\ude00 ID:AMQP_UUID:");
         default -> { }
      }
      message.setJMSType(count % 4 == 1 ? null : "type " + count % 4);
      message.setJMSReplyTo(switch (count % 5) {
         case 1 -> session.createQueue("answers");
         case 2 -> session.createTopic("answers.to.all");
         case 3 -> session.createTemporaryQueue();
         case 4 -> session.createTemporaryTopic();
         default -> null;
      });
   }

   private static void properties(Message message, Random random, int round) throws Exception {
      for (Map.Entry<String, Object> each : values().entrySet()) {
         boolean allowed = !(each.getValue() instanceof byte[]) && !(each.getValue() instanceof Character);
         if (allowed && round > 0 && random.nextBoolean()) {
            message.setObjectProperty("p_" + each.getKey(), each.getValue());
         }
      }
      if (round == 2) {
         message.setStringProperty("JMSXGroupID", "group " + random.nextInt(3));
         message.setIntProperty("JMSXGroupSeq", random.nextInt(100));
      }
      if (round == 3) {
         message.setStringProperty("_AMQ_DUPL_ID", "own " + random.nextLong());
      }
   }

   // -- taking ---------------------------------------------------------------------------------------------------------

   private static int taken(Session session, Destination from, int count, PrintStream out) throws Exception {
      int found = 0;
      try (MessageConsumer consumer = session.createConsumer(from)) {
         for (; found < count; found++) {
            Map<String, String> said;
            try {
               Message message = consumer.receive(2000);
               if (message == null) {
                  break;
               }
               said = described(message);
            } catch (RuntimeException unreadable) {
               said = Map.of("receive", "throws " + unreadable.getClass().getName());
            }
            List<String> parts = new ArrayList<>();
            said.forEach((name, value) -> parts.add(escaped(name) + "=" + escaped(value)));
            out.println(String.join("\t", parts));
         }
      }
      return found;
   }

   private static Map<String, String> described(Message message) throws Exception {
      Map<String, String> said = new TreeMap<>();
      said.put("JMSMessageID", done(message::getJMSMessageID));
      said.put("JMSCorrelationID", done(message::getJMSCorrelationID));
      said.put("JMSCorrelationIDAsBytes", done(message::getJMSCorrelationIDAsBytes));
      said.put("JMSType", done(message::getJMSType));
      said.put("JMSPriority", done(message::getJMSPriority));
      said.put("JMSDeliveryMode", done(message::getJMSDeliveryMode));
      said.put("JMSTimestamp", done(message::getJMSTimestamp));
      said.put("JMSExpiration", done(message::getJMSExpiration));
      said.put("JMSDeliveryTime", done(message::getJMSDeliveryTime));
      said.put("JMSRedelivered", done(message::getJMSRedelivered));
      said.put("JMSReplyTo", done(() -> named(message.getJMSReplyTo())));
      said.put("JMSDestination", done(() -> named(message.getJMSDestination())));
      for (Object name : Collections.list((Enumeration<?>) message.getPropertyNames())) {
         said.put("property " + name, done(() -> message.getObjectProperty((String) name)));
      }
      said.put("kind", kind(message));
      try {
         body(message, said);
      } catch (Exception | Error failed) {
         said.put("body", failed.getClass().getName());
      }
      return said;
   }

   private static String kind(Message message) {
      return message instanceof TextMessage ? "text" : message instanceof BytesMessage ? "bytes"
         : message instanceof MapMessage ? "map" : message instanceof StreamMessage ? "stream"
         : message instanceof ObjectMessage ? "object" : "plain";
   }

   private static void body(Message message, Map<String, String> said) throws Exception {
      if (message instanceof TextMessage text) {
         said.put("body", valued(text.getText()));
      } else if (message instanceof BytesMessage bytes) {
         MessageDigest hash = MessageDigest.getInstance("SHA-256");
         byte[] content = new byte[65536];
         long size = 0;
         String small = "";
         for (int read = bytes.readBytes(content); read > 0; read = bytes.readBytes(content)) {
            hash.update(content, 0, read);
            size += read;
            small = size > 32 ? "" : HexFormat.of().formatHex(content, 0, read);
         }
         said.put("body", size + " bytes " + (size > 32 ? HexFormat.of().formatHex(hash.digest()) : small));
         said.put("body length", "" + bytes.getBodyLength());
      } else if (message instanceof MapMessage map) {
         for (Object name : Collections.list((Enumeration<?>) map.getMapNames())) {
            said.put("entry " + name, done(() -> map.getObject((String) name)));
         }
      } else if (message instanceof StreamMessage stream) {
         try {
            for (int n = 0; ; n++) {
               said.put("element %03d".formatted(n), valued(stream.readObject()));
            }
         } catch (MessageEOFException end) {
            return;
         }
      } else if (message instanceof ObjectMessage object) {
         ByteArrayOutputStream content = new ByteArrayOutputStream();
         Serializable value = object.getObject();
         new ObjectOutputStream(content).writeObject(value);
         said.put("body", (value == null ? "null" : value.getClass().getName()) + " " + valued(content.toByteArray()));
      }
   }

   private static String named(Destination destination) throws Exception {
      if (destination instanceof Queue queue) {
         return destination.getClass().getSimpleName() + " " + queue.getQueueName();
      }
      return destination == null ? null : destination.getClass().getSimpleName() + " " + ((Topic) destination).getTopicName();
   }

   /** What it gives, with its class; or the exception's. */
   private static String done(Callable<?> what) {
      try {
         return valued(what.call());
      } catch (Exception failed) {
         return "throws " + failed.getClass().getName();
      }
   }

   private static String valued(Object value) throws Exception {
      if (value == null) {
         return "null";
      }
      String text = value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value.toString();
      if (text.length() > 2000) {
         byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_16BE));
         text = text.length() + " " + HexFormat.of().formatHex(digest);
      }
      return value.getClass().getSimpleName() + " " + text;
   }

   private static String escaped(String text) {
      StringBuilder made = new StringBuilder();
      for (char each : text.toCharArray()) {
         made.append(each < ' ' || each > '~' || each == '\\' || each == '=' ? "\\u%04x".formatted((int) each) : String.valueOf(each));
      }
      return made.toString();
   }
}
