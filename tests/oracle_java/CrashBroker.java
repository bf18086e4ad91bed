import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.config.FileDeploymentManager;
import org.apache.activemq.artemis.core.config.impl.FileConfiguration;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;
import org.apache.activemq.artemis.core.transaction.impl.XidImpl;

/**
 * A broker on which a trace (docs/spec/trace-format.md) is played at the trace's own times, until somebody kills it.
 * Arguments: broker.xml, data directory, the trace's operations as lines of key=value with tabs between. Each session has a thread of its own, so that a request that waits for its
 * answer holds up nobody else. Sessions whose name begins with "async" do not wait for the answers of their sends.
 * Lines of standard output:
 *
 *   began I NS       operation I is handed to the client library; nanoseconds since the trace began
 *   answered I NS    it came back: what it asked for was answered, if it is of the kind that is
 *   failed I ERROR
 *   stalled I NS     the longest that a write to the disk took until then
 *   crash I NS       the instant of a crash has come
 */
public final class CrashBroker {

   static final PrintStream out = System.out;
   /** Done before the clock starts. */
   static final Set<String> PREPARED = Set.of("create_queue", "open_session");
   static final Map<String, Client> clients = new HashMap<>();
   static final Map<String, ClientConsumer> consumers = new ConcurrentHashMap<>();
   static final Map<String, Map<Long, ClientMessage>> taken = new ConcurrentHashMap<>();
   static final Map<String, String> kinds = new HashMap<>();
   static ActiveMQServerImpl server;
   static ServerLocator waiting, unwaiting;
   /** When the last write to the disk was done, and the longest that one took since the trace began. */
   static volatile long written, stalled;

   static final class Client {
      ClientSession session;
      final ExecutorService thread = Executors.newSingleThreadExecutor();
      final Map<String, ClientProducer> producers = new HashMap<>();
   }

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      Path data = Path.of(args[1]).toAbsolutePath();
      FileConfiguration configuration = new FileConfiguration();
      FileDeploymentManager manager = new FileDeploymentManager(Path.of(args[0]).toUri().toString());
      manager.addDeployable(configuration);
      manager.readConfiguration();
      configuration.setPersistenceEnabled(true).setSecurityEnabled(false).setJournalType(JournalType.NIO);
      configuration.setJMXManagementEnabled(false).setGracefulShutdownEnabled(false);
      configuration.setBindingsDirectory(data.resolve("bindings").toString());
      configuration.setJournalDirectory(data.resolve("journal").toString());
      configuration.setPagingDirectory(data.resolve("paging").toString());
      configuration.setLargeMessagesDirectory(data.resolve("large-messages").toString());
      configuration.getAcceptorConfigurations().clear();
      configuration.getAcceptorConfigurations().add(
         new TransportConfiguration("org.apache.activemq.artemis.core.remoting.impl.invm.InVMAcceptorFactory"));
      server = new ActiveMQServerImpl(configuration);
      server.start();
      if (!server.waitForActivation(60, TimeUnit.SECONDS)) {
         throw new IllegalStateException("the broker did not start");
      }
      waiting = locator(true);
      unwaiting = locator(false);
      Path probe = data.resolveSibling("probe");
      Thread watch = new Thread(() -> watch(probe));
      watch.setDaemon(true);
      watch.start();
      play(Path.of(args[2]));
   }

   /** Writes a byte to the disk again and again: the longest that this took is how far the broker may be behind. */
   static void watch(Path probe) {
      try (FileChannel file = FileChannel.open(probe, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
         for (written = System.nanoTime();;) {
            file.write(ByteBuffer.wrap(new byte[1]), 0);
            file.force(false);
            Thread.sleep(10);
            long now = System.nanoTime();
            stalled = Math.max(stalled, now - written);
            written = now;
         }
      } catch (IOException | InterruptedException failed) {
         stalled = Long.MAX_VALUE;
      }
   }

   static ServerLocator locator(boolean block) throws Exception {
      ServerLocator locator = ActiveMQClient.createServerLocator("vm://0");
      return locator.setBlockOnDurableSend(block).setBlockOnNonDurableSend(block).setBlockOnAcknowledge(true)
         .setAckBatchSize(0).setConsumerWindowSize(0).setReconnectAttempts(0).setProducerWindowSize(-1).setCallTimeout(600000);
   }

   static void play(Path trace) throws Exception {
      List<Map<String, String>> operations = new ArrayList<>();
      for (String line : Files.readAllLines(trace)) {
         Map<String, String> op = new HashMap<>();
         for (String part : line.split("\t")) {
            op.put(part.substring(0, part.indexOf('=')), part.substring(part.indexOf('=') + 1));
         }
         operations.add(op);
         prepare(op);
      }
      for (Map<String, String> op : operations) {
         if (!PREPARED.contains(op.get("op"))) {
            client(session(op));
         }
      }
      warmUp();
      long start = System.nanoTime() + 100_000_000;
      stalled = 0;
      for (int number = 0; number < operations.size(); number++) {
         Map<String, String> op = operations.get(number);
         int i = number;
         String name = op.get("op");
         if (PREPARED.contains(name)) {
            continue;
         }
         long at = Long.parseLong(op.get("t"));
         for (long left = start + at - System.nanoTime(); left > 0; left = start + at - System.nanoTime()) {
            Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
         }
         if (name.equals("crash")) {
            long now = System.nanoTime();
            say("stalled", i, Math.max(stalled, now - written));
            say("crash", i, now - start);
            Thread.sleep(600_000);
         }
         Client client = client(session(op));
         client.thread.execute(() -> {
            try {
               say("began", i, System.nanoTime() - start);
               apply(client, name, op);
               say("answered", i, System.nanoTime() - start);
            } catch (Throwable failed) {
               synchronized (out) {
                  out.println("failed " + i + " " + failed);
               }
            }
         });
      }
   }

   /** What the first operation of its kind has to load is loaded: messages in memory and in pages, a transaction. */
   static void warmUp() throws Exception {
      Map<String, String> queue = Map.of("op", "create_queue", "queue", "paged.warm");
      prepare(queue);
      Client client = new Client();
      client.session = waiting.createSessionFactory().createSession(false, false);
      for (int n = 0; n < 3; n++) {
         apply(client, "send", Map.of("address", "paged.warm", "seq", "0"));
         client.session.commit();
      }
      client.session.close();
   }

   static void say(String what, int i, long ns) {
      synchronized (out) {
         out.println(what + " " + i + " " + ns);
      }
   }

   static String text(Map<String, String> op, String key, String other) {
      return op.getOrDefault(key, other);
   }

   static String session(Map<String, String> op) {
      return op.containsKey("consumer") ? "c-" + text(op, "consumer", "") : text(op, "session", "main");
   }

   static void prepare(Map<String, String> op) throws Exception {
      if (text(op, "op", "").equals("open_session")) {
         kinds.put(text(op, "session", ""), text(op, "kind", "auto"));
      }
      if (text(op, "op", "").equals("create_queue")) {
         QueueConfiguration queue = new QueueConfiguration(text(op, "queue", ""));
         queue.setAddress(text(op, "address", text(op, "queue", "")));
         queue.setRoutingType(RoutingType.valueOf(text(op, "routing", "anycast").toUpperCase()));
         queue.setDurable(!op.containsKey("durable") || Boolean.parseBoolean(op.get("durable")));
         queue.setAutoCreateAddress(true);
         server.createQueue(queue);
      }
   }

   static Client client(String name) throws Exception {
      Client found = clients.get(name);
      if (found == null) {
         found = new Client();
         clients.put(name, found);
         ClientSessionFactory factory = (name.startsWith("async") ? unwaiting : waiting).createSessionFactory();
         String kind = kinds.getOrDefault(name, "auto");
         boolean alone = kind.equals("auto");
         found.session = factory.createSession(null, null, kind.equals("xa"), alone, alone, false, 0);
         found.session.start();
      }
      return found;
   }

   static Xid xid(Map<String, String> op) {
      byte[] name = text(op, "xid", "").getBytes();
      return new XidImpl(name, 1, name);
   }

   static void apply(Client client, String name, Map<String, String> op) throws Exception {
      ClientSession session = client.session;
      switch (name) {
         case "send": {
            String address = text(op, "address", "");
            ClientProducer producer = client.producers.get(address);
            if (producer == null) {
               producer = session.createProducer(address);
               client.producers.put(address, producer);
            }
            ClientMessage message = session.createMessage(!op.containsKey("durable") || Boolean.parseBoolean(op.get("durable")));
            message.putLongProperty("seq", Long.parseLong(op.get("seq")));
            message.getBodyBuffer().writeBytes(new byte[op.containsKey("size") ? Integer.parseInt(op.get("size")) : 0]);
            producer.send(message);
            break;
         }
         case "begin":
            session.start(xid(op), XAResource.TMNOFLAGS);
            break;
         case "prepare":
            session.end(xid(op), XAResource.TMSUCCESS);
            session.prepare(xid(op));
            break;
         case "commit":
            if (op.containsKey("xid")) {
               session.commit(xid(op), false);
            } else {
               session.commit();
            }
            break;
         case "rollback":
            if (op.containsKey("xid")) {
               session.rollback(xid(op));
            } else {
               session.rollback();
            }
            break;
         case "open_consumer":
            // a session of another name takes part in that session's transaction
            consumers.put(text(op, "consumer", ""), session.createConsumer(text(op, "queue", "")));
            break;
         case "receive": {
            String consumer = text(op, "consumer", "");
            Map<Long, ClientMessage> seen = taken.computeIfAbsent(consumer, key -> new LinkedHashMap<>());
            int max = op.containsKey("max") ? Integer.parseInt(op.get("max")) : 1;
            for (int n = 0; n < max; n++) {
               ClientMessage message = consumers.get(consumer).receive(2000);
               if (message == null) {
                  break;
               }
               seen.put(message.getLongProperty("seq"), message);
               if (text(op, "ack", "none").equals("each")) {
                  message.individualAcknowledge();
               }
            }
            break;
         }
         case "ack":
            taken.get(text(op, "consumer", "")).get(Long.parseLong(op.get("seq"))).acknowledge();
            break;
         default:
            throw new IllegalArgumentException(name);
      }
   }
}
