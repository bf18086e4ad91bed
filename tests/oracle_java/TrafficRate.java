import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Stream;

import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;
import org.apache.activemq.artemis.core.settings.impl.AddressFullMessagePolicy;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * How fast a real broker does the operations of a trace: TrafficRate DIR TRACE MAX-SIZE PAGE-SIZE ROUNDS. One line of JSON for
 * the round that was the median, after a round that is not counted.
 *
 * Each session of the trace is a core client with a thread of its own, over TCP on the loopback interface; none is ahead of
 * another by more than 1,000 operations, so the mix stays that of the trace. Sends do not wait for their answer, each message
 * is acknowledged by itself without waiting; the journal is not synchronised. The clock stops when all is confirmed.
 */
public final class TrafficRate {

   static final int APART = 1000;

   record Operation(int index, String op, JsonObject json, int count) {
   }

   record Round(double lines, double seconds, double cpu) {
   }

   public static void main(String[] args) throws Exception {
      Path folder = Path.of(args[0]).toAbsolutePath();
      List<Operation> operations = read(Path.of(args[1]));
      List<Round> rounds = new ArrayList<>();
      for (int n = 0; n <= Integer.parseInt(args[4]); n++) {
         Round one = round(folder, operations, Long.parseLong(args[2]), Integer.parseInt(args[3]));
         if (n > 0) {
            rounds.add(one);
         }
      }
      rounds.sort(Comparator.comparingDouble(Round::seconds));
      Round median = rounds.get(rounds.size() / 2);
      System.out.printf(Locale.ROOT, "{\"lines\":%.0f,\"seconds\":%.3f,\"cpu_seconds\":%.3f}%n", median.lines, median.seconds, median.cpu);
      Runtime.getRuntime().halt(0);
   }

   /** The operations; a receive takes no more than was sent to its queue before and not taken, so that none has to wait long. */
   static List<Operation> read(Path trace) throws Exception {
      List<Operation> found = new ArrayList<>();
      Map<String, List<String>> queues = new HashMap<>();
      Map<String, String> consumers = new HashMap<>();
      Map<String, Integer> waiting = new HashMap<>();
      for (String line : Files.readAllLines(trace).subList(1, (int) Files.lines(trace).count())) {
         JsonObject json = JsonParser.parseString(line).getAsJsonObject();
         String op = json.get("op").getAsString();
         int count = 1;
         switch (op) {
            case "create_queue" -> queues.computeIfAbsent(text(json, "address", text(json, "queue", null)), a -> new ArrayList<>()).add(text(json, "queue", null));
            case "open_consumer" -> consumers.put(text(json, "consumer", null), text(json, "queue", null));
            case "send" -> queues.getOrDefault(text(json, "address", null), List.of()).forEach(queue -> waiting.merge(queue, 1, Integer::sum));
            case "receive" -> {
               String queue = consumers.get(text(json, "consumer", null));
               count = Math.min(json.has("max") ? json.get("max").getAsInt() : 1, waiting.getOrDefault(queue, 0));
               waiting.merge(queue, -count, Integer::sum);
            }
            case "create_address", "close_consumer", "close_session" -> { }
            default -> throw new IllegalArgumentException(trace + ": " + op + " is not timed");
         }
         found.add(new Operation(found.size(), op, json, count));
      }
      return found;
   }

   static String text(JsonObject json, String key, String missing) {
      JsonElement found = json.get(key);
      return found == null ? missing : found.getAsString();
   }

   static Round round(Path folder, List<Operation> operations, long size, int page) throws Exception {
      wipe(folder);
      Configuration configuration = new ConfigurationImpl().setPersistenceEnabled(true).setSecurityEnabled(false);
      configuration.setBindingsDirectory(folder.resolve("b").toString()).setJournalDirectory(folder.resolve("j").toString());
      configuration.setPagingDirectory(folder.resolve("p").toString()).setLargeMessagesDirectory(folder.resolve("l").toString());
      configuration.setJournalType(JournalType.NIO).setJournalSyncNonTransactional(false).setJournalSyncTransactional(false);
      configuration.setJournalDatasync(false);
      int port = 58000 + (int) (ProcessHandle.current().pid() % 3000);
      configuration.addAcceptorConfiguration("tcp", "tcp://127.0.0.1:" + port);
      configuration.addAddressSetting("#", new AddressSettings().setMaxSizeBytes(size).setPageSizeBytes(page)
         .setAddressFullMessagePolicy(AddressFullMessagePolicy.PAGE).setAutoDeleteQueues(false).setAutoDeleteAddresses(false));
      ActiveMQServerImpl server = new ActiveMQServerImpl(configuration);
      server.start();
      server.waitForActivation(30, TimeUnit.SECONDS);
      ServerLocator locator = ActiveMQClient.createServerLocator("tcp://127.0.0.1:" + port);
      locator.setBlockOnDurableSend(false).setConfirmationWindowSize(1024 * 1024).setAckBatchSize(0);
      Map<String, Client> clients = new LinkedHashMap<>();
      Map<String, Client> byConsumer = new HashMap<>();
      for (Operation one : operations) {
         String session = text(one.json, "session", "main");
         switch (one.op) {
            case "create_queue" -> {
               RoutingType routing = RoutingType.valueOf(text(one.json, "routing", "anycast").toUpperCase(Locale.ROOT));
               String queue = text(one.json, "queue", null);
               server.createQueue(QueueConfiguration.of(queue).setAddress(text(one.json, "address", queue)).setRoutingType(routing));
            }
            case "send" -> clients.computeIfAbsent(session, s -> new Client(locator)).add(one);
            case "open_consumer" -> {
               String consumer = text(one.json, "consumer", null);
               Client client = clients.computeIfAbsent(text(one.json, "session", "c-" + consumer), s -> new Client(locator));
               byConsumer.put(consumer, client);
               client.consumer = client.session.createConsumer(text(one.json, "queue", null), text(one.json, "selector", null));
            }
            case "receive" -> byConsumer.get(text(one.json, "consumer", null)).add(one);
            default -> { }
         }
      }
      AtomicLongArray positions = new AtomicLongArray(clients.size());
      List<Thread> threads = new ArrayList<>();
      int n = 0;
      for (Client client : clients.values()) {
         client.ready();
         int number = n++;
         threads.add(new Thread(() -> client.run(positions, number)));
      }
      long cpu = cpu();
      long start = System.nanoTime();
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
         thread.join();
      }
      for (Client client : clients.values()) {
         if (client.failure != null || !client.confirmed.await(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not all was done", client.failure);
         }
         client.session.commit();
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      double used = (cpu() - cpu) / 1e9;
      for (Client client : clients.values()) {
         client.factory.close();
      }
      locator.close();
      server.stop();
      wipe(folder);
      return new Round(operations.size(), seconds, used);
   }

   static long cpu() {
      return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
   }

   static final class Client {
      final List<Operation> operations = new ArrayList<>();
      final Map<String, ClientProducer> producers = new HashMap<>();
      final ClientSessionFactory factory;
      final ClientSession session;
      ClientConsumer consumer;
      CountDownLatch confirmed;
      volatile Throwable failure;

      Client(ServerLocator locator) {
         try {
            factory = locator.createSessionFactory();
            session = factory.createSession(true, true);
         } catch (Exception failed) {
            throw new IllegalStateException(failed);
         }
      }

      void add(Operation one) {
         operations.add(one);
      }

      void ready() throws Exception {
         int sends = (int) operations.stream().filter(one -> one.op.equals("send")).count();
         confirmed = new CountDownLatch(sends);
         session.setSendAcknowledgementHandler(message -> confirmed.countDown());
         session.start();
      }

      void run(AtomicLongArray positions, int number) {
         long last = 0;
         try {
            for (Operation one : operations) {
               positions.lazySet(number, one.index);
               while (one.index > last + APART) {
                  last = Long.MAX_VALUE;
                  for (int n = 0; n < positions.length(); n++) {
                     last = Math.min(last, positions.get(n));
                  }
                  if (one.index > last + APART) {
                     Thread.onSpinWait();
                     Thread.sleep(0, 50_000);
                  }
               }
               if (one.op.equals("send")) {
                  send(one.json);
               } else {
                  for (int n = 0; n < one.count; n++) {
                     ClientMessage message = consumer.receive(10_000);
                     if (message == null) {
                        throw new IllegalStateException("nothing came for operation " + one.index);
                     }
                     message.acknowledge();
                  }
               }
            }
         } catch (Throwable failed) {
            failure = failed;
         } finally {
            positions.set(number, Long.MAX_VALUE / 2);
         }
      }

      void send(JsonObject json) throws Exception {
         ClientProducer producer = producers.get(text(json, "address", null));
         if (producer == null) {
            producer = session.createProducer(text(json, "address", null));
            producers.put(text(json, "address", null), producer);
         }
         ClientMessage message = session.createMessage(!json.has("durable") || json.get("durable").getAsBoolean());
         message.getBodyBuffer().writeBytes(new byte[json.has("size") ? json.get("size").getAsInt() : 0]);
         producer.send(message);
      }
   }

   static void wipe(Path folder) throws Exception {
      if (Files.exists(folder)) {
         try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
               Files.delete(path);
            }
         }
      }
   }
}
