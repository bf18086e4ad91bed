import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;

import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.config.impl.SecurityConfiguration;
import org.apache.activemq.artemis.core.filter.Filter;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.spi.core.security.ActiveMQJAASSecurityManager;
import org.apache.activemq.artemis.spi.core.security.jaas.InVMLoginModule;
import org.apache.activemq.artemis.spi.core.security.jaas.TextFileCertificateLoginModule;

/**
 * A broker that messages are sent to. Arguments: its broker.xml, the port of its acceptor. Says "started"; then each
 * line of standard input is a command:
 *
 * Where its security is on, it knows the users keeper, sender and reader; the password of each is "secret-" and the name.
 * Who shows a certificate is the user that certificates.properties beside broker.xml says (USER=CN=NAME).
 *
 *   start FILE     this broker ends in order, and another one starts: "started"
 *   count QUEUE    one line: messages of the queue, -1 where there is none
 *   empty QUEUE    the same, and they are removed
 *   kind QUEUE     ANYCAST or MULTICAST, "none" where there is none
 *   due QUEUE      what is scheduled is delivered now: how many of them the queue knew
 *   prune QUEUE    what the broker cannot convert for a core client makes it end the consumer: removed; how many
 *   dump QUEUE     a line for each message that a core client is given, after "prune", then "end"
 *   stop           ends in order: "stopped"
 */
public final class TargetBroker {

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
      EmbeddedActiveMQ broker = started(args[0], out);
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
         String[] words = line.split(" ", 2);
         if (words[0].equals("start")) {
            broker.stop();
            broker = started(words[1], out);
            continue;
         }
         Queue queue = broker.getActiveMQServer().locateQueue(SimpleString.toSimpleString(words[1]));
         if (queue != null) {
            queue.flushExecutor();
         }
         switch (words[0]) {
            case "count" -> out.println(queue == null ? -1 : queue.getMessageCount());
            case "empty" -> out.println(queue == null ? -1 : queue.deleteAllReferences());
            case "due" -> {
               out.println(queue == null ? -1 : queue.getScheduledCount());
               if (queue != null) {
                  queue.deliverScheduledMessages();
               }
            }
            case "kind" -> out.println(queue == null ? "none" : queue.getRoutingType());
            case "prune" -> out.println(queue == null ? -1 : queue.deleteMatchingReferences(unconvertible()));
            default -> {
               if (queue != null) {
                  dump(args[1], queue, out);
               }
               out.println("end");
            }
         }
      }
      broker.stop();
      out.println("stopped");
      System.exit(0);
   }

   static EmbeddedActiveMQ started(String file, PrintStream out) throws Exception {
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(file).toUri().toString());
      SecurityConfiguration users = new SecurityConfiguration();
      for (String role : new String[] {"keeper", "sender", "reader"}) {
         users.addUser(role, "secret-" + role);
         users.addRole(role, role);
      }
      broker.setSecurityManager(new ActiveMQJAASSecurityManager(InVMLoginModule.class.getName(),
         TextFileCertificateLoginModule.class.getName(), users, certified(Path.of(file).getParent())));
      broker.start();
      out.println("started");
      return broker;
   }

   static SecurityConfiguration certified(Path folder) {
      return new SecurityConfiguration() {
         @Override
         public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
            return new AppConfigurationEntry[] {new AppConfigurationEntry(name, LoginModuleControlFlag.REQUIRED, Map.of(
               "baseDir", folder.toString(), "org.apache.activemq.jaas.textfiledn.user", "certificates.properties",
               "org.apache.activemq.jaas.textfiledn.role", "roles.properties"))};
         }
      };
   }

   static void dump(String port, Queue queue, PrintStream out) throws Exception {
      queue.deleteMatchingReferences(unconvertible());
      try (ServerLocator locator = ActiveMQClient.createServerLocator("tcp://127.0.0.1:" + port);
           ClientSessionFactory factory = locator.createSessionFactory();
           ClientSession session = factory.createSession(true, true, 0);
           ClientConsumer consumer = session.createConsumer(queue.getName())) {
         session.start();
         for (int waited = 0; waited < 5 && queue.getMessageCount() > 0; waited++) {
            queue.deliverScheduledMessages();
            for (ClientMessage message = consumer.receive(500); message != null; message = consumer.receive(300)) {
               out.println(described(message));
               message.acknowledge();
               waited = 0;
            }
         }
      }
   }

   static Filter unconvertible() {
      return (Filter) Proxy.newProxyInstance(Filter.class.getClassLoader(), new Class<?>[] {Filter.class}, (proxy, method, given) -> {
         if (!method.getName().equals("match") || !(given[0] instanceof Message message)) {
            return method.getReturnType() == boolean.class ? (Object) false : null;
         }
         try {
            message.toCore();
            return false;
         } catch (Throwable failed) {
            return true;
         }
      });
   }

   /** Everything that a client sees, but for the duplicate id and, of AMQP messages, the user id: often made up. */
   static String described(ClientMessage message) throws Exception {
      TreeMap<String, String> properties = new TreeMap<>();
      for (SimpleString name : message.getPropertyNames()) {
         String known = name.toString();
         if (!known.equals("_AMQ_DUPL_ID") && !known.equals("_AMQ_LARGE_SIZE")) {
            Object value = message.getObjectProperty(name);
            String text = value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
            properties.put(known, (value == null ? "null" : value.getClass().getSimpleName()) + " " + text);
         }
      }
      String small = "";
      MessageDigest hash = MessageDigest.getInstance("SHA-256");
      if (message.isLargeMessage()) {
         message.saveToOutputStream(new DigestOutputStream(OutputStream.nullOutputStream(), hash));
      } else {
         ActiveMQBuffer body = message.getBodyBuffer();
         byte[] content = new byte[body.readableBytes()];
         body.readBytes(content);
         if (message.getType() == Message.MAP_TYPE) {
            Arrays.sort(content);  // maps have no order
         }
         hash.update(content);
         small = content.length < 32 ? HexFormat.of().formatHex(content) : "";
      }
      String digest = HexFormat.of().formatHex(hash.digest());
      String line = String.join("|", "" + message.getPriority(), message.getAddress(), "" + message.getType(), "" + message.isDurable(),
         "" + message.getExpiration(), "" + message.getTimestamp(), properties.containsKey("NATIVE_MESSAGE_ID") || properties.containsKey("JMS_AMQP_HEADER") || properties.containsKey("JMS_AMQP_ORIGINAL_ENCODING") ? "made up" : "" + message.getUserID(),
         (message.isLargeMessage() ? "large " : "") + message.getBodySize() + " " + (small.isEmpty() ? digest : small), properties.toString());
      return line.replace("\n", "\\n").replace("\r", "\\r");
   }
}
