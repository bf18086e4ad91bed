import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.TreeMap;

import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * A broker that messages are sent to. Arguments: its broker.xml, the port of its acceptor. Says "started"; then each
 * line of standard input is a command:
 *
 *   count QUEUE    one line: messages of the queue, -1 where there is none
 *   empty QUEUE    the same, and they are removed
 *   dump QUEUE     a line for each message that a client is given, then "end" and how many are scheduled
 *   stop           ends in order: "stopped"
 */
public final class TargetBroker {

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(args[0]).toUri().toString());
      broker.start();
      out.println("started");
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
         String[] words = line.split(" ", 2);
         Queue queue = broker.getActiveMQServer().locateQueue(SimpleString.toSimpleString(words[1]));
         if (queue != null) {
            queue.flushExecutor();
         }
         switch (words[0]) {
            case "count" -> out.println(queue == null ? -1 : queue.getMessageCount());
            case "empty" -> out.println(queue == null ? -1 : queue.deleteAllReferences());
            default -> {
               if (queue != null) {
                  dump(args[1], queue, out);
               }
               out.println("end " + (queue == null ? -1 : queue.getScheduledCount()));
            }
         }
      }
      broker.stop();
      out.println("stopped");
      System.exit(0);
   }

   static void dump(String port, Queue queue, PrintStream out) throws Exception {
      try (ServerLocator locator = ActiveMQClient.createServerLocator("tcp://127.0.0.1:" + port);
           ClientSessionFactory factory = locator.createSessionFactory();
           ClientSession session = factory.createSession(false, true, true, true);
           ClientConsumer consumer = session.createConsumer(queue.getName())) {
         session.start();
         for (int waited = 0; waited < 10 && queue.getMessageCount() > queue.getScheduledCount(); waited++) {
            for (ClientMessage message = consumer.receive(1000); message != null; message = consumer.receive(500)) {
               out.println(described(message));
               message.acknowledge();
               waited = 0;
            }
         }
      }
   }

   /** Everything that a client sees, but for ids of the broker's and the duplicate id. */
   static String described(ClientMessage message) throws Exception {
      TreeMap<String, String> properties = new TreeMap<>();
      for (SimpleString name : message.getPropertyNames()) {
         String known = name.toString();
         if (!known.equals("_AMQ_DUPL_ID") && !known.equals("_AMQ_LARGE_SIZE") && !known.startsWith("JMS_AMQP_MA_x-opt-delivery")) {
            Object value = message.getObjectProperty(name);
            String text = value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
            properties.put(known, (value == null ? "null" : value.getClass().getSimpleName()) + " " + text);
         }
      }
      MessageDigest hash = MessageDigest.getInstance("SHA-256");
      if (message.isLargeMessage()) {
         message.saveToOutputStream(new DigestOutputStream(OutputStream.nullOutputStream(), hash));
      } else {
         ActiveMQBuffer body = message.getBodyBuffer();
         byte[] content = new byte[body.readableBytes()];
         body.readBytes(content);
         hash.update(content);
      }
      String digest = HexFormat.of().formatHex(hash.digest());
      String line = String.join("|", "" + message.getPriority(), "" + message.getType(), "" + message.isDurable(),
         "" + message.getExpiration(), "" + message.getTimestamp(), "" + message.getUserID(), digest, properties.toString());
      return line.replace("\n", "\\n").replace("\r", "\\r");
   }
}
