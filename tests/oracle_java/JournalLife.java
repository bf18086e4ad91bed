import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.api.core.management.QueueControl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.transaction.impl.XidImpl;
import org.apache.qpid.protonj2.client.Client;
import org.apache.qpid.protonj2.client.Connection;
import org.apache.qpid.protonj2.client.ConnectionOptions;
import org.apache.qpid.protonj2.client.Sender;
import org.apache.qpid.protonj2.client.SenderOptions;

/**
 * One stretch in the life of a broker: everything that its journal may hold, at random. Arguments: broker.xml (its
 * queues are those of {@link #QUEUES}), the acceptor's port, a seed, how many operations. After as many of them it
 * says "done" with what was done, and goes on until it is killed, or told "stop" on standard input: then the clients
 * close, the broker stops and it says "stopped".
 */
public final class JournalLife {

   static final String[] ADDRESSES = {"orders", "orders", "jobs", "news", "prices", "state", "ring", "log", "retry", "paged", "paged", "wide"};
   static final String[] QUEUES = {"orders", "jobs", "news.all", "news.red", "news.few", "prices", "state", "ring", "log", "retry", "paged", "wide.all", "wide.red", "wide.few", "DLQ"};
   static final String[] COLORS = {"red", "green", "blue"};
   static final String[] COUNTED = {"sent", "taken", "rolled back", "prepared", "amqp", "refused"};
   static final AtomicLong[] counts = new AtomicLong[COUNTED.length];
   static final AtomicLong done = new AtomicLong();
   static final AtomicLong seqs = new AtomicLong();
   static final AtomicBoolean running = new AtomicBoolean(true);
   /** Queues of pages fill and empty in turn. */
   static volatile boolean filling = true;
   static EmbeddedActiveMQ broker;
   static int port;
   static long seed;

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      Path folder = Path.of(args[0]).toAbsolutePath();
      System.setProperty("artemis.instance", folder.getParent().toString());
      System.setProperty("oracle.port", args[1]);
      port = Integer.parseInt(args[1]);
      seed = Long.parseLong(args[2]);
      long operations = Long.parseLong(args[3]);
      seqs.set(seed * 1_000_000);
      for (int n = 0; n < counts.length; n++) {
         counts[n] = new AtomicLong();
      }
      broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(folder.toUri().toString());
      broker.start();
      List<Thread> threads = new ArrayList<>();
      for (int n = 0; n < 3; n++) {
         threads.add(started(new Traffic(n)));
      }
      threads.add(started(new Traffic.Amqp()));
      threads.add(started(new Traffic.Operator()));
      long began = System.currentTimeMillis();
      while (done.get() < operations && System.currentTimeMillis() - began < 60_000) {
         Thread.sleep(10);
         filling = done.get() / 150 % 3 != 2;
      }
      StringBuilder said = new StringBuilder("done");
      for (int n = 0; n < counts.length; n++) {
         said.append(n == 0 ? " " : ", ").append(counts[n]).append(' ').append(COUNTED[n]);
      }
      System.out.println(said);
      String line = new BufferedReader(new InputStreamReader(System.in)).readLine();
      if ("stop".equals(line)) {
         running.set(false);
         for (Thread thread : threads) {
            thread.join(20_000);
         }
         broker.stop();
         System.out.println("stopped");
      }
      Runtime.getRuntime().halt(0);
   }

   static Thread started(Runnable work) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      thread.start();
      return thread;
   }

   static void count(int what, long more) {
      counts[what].addAndGet(more);
   }

   static ServerLocator locator() throws Exception {
      ServerLocator locator = ActiveMQClient.createServerLocator("tcp://127.0.0.1:" + port + "?useEpoll=false;useKQueue=false");
      return locator.setMinLargeMessageSize(12_000).setConsumerWindowSize(0).setAckBatchSize(0).setBlockOnAcknowledge(true).setCallTimeout(30000);
   }

   /** Clients of the core protocol: transactions, XA, acknowledgements that are given back. */
   static class Traffic implements Runnable {

      final int number;
      final Random random;
      ClientSessionFactory factory;

      Traffic(int number) {
         this.number = number;
         this.random = new Random(seed * 31 + number);
      }

      boolean chance(int percent) {
         return random.nextInt(100) < percent;
      }

      <T> T one(T[] of) {
         return of[random.nextInt(of.length)];
      }

      @Override
      public void run() {
         try (ServerLocator locator = locator()) {
            locator.setCompressLargeMessage(number == 1);
            factory = locator.createSessionFactory();
            while (running.get()) {
               try {
                  operation();
               } catch (ActiveMQException | XAException refused) {
                  count(5, 1);
               }
               done.incrementAndGet();
            }
         } catch (Exception ended) {
            System.err.println("traffic: " + ended);
         }
      }

      void operation() throws Exception {
         int what = random.nextInt(100);
         if (what < 45) {
            send(what < 30);
         } else if (what < 90) {
            take(filling ? one(QUEUES) : chance(60) ? QUEUES[10 + random.nextInt(4)] : one(QUEUES));
         } else if (what < 96) {
            branch();
         } else {
            passing();
         }
      }

      ClientMessage message(ClientSession session, String address) {
         long now = System.currentTimeMillis();
         ClientMessage m = session.createMessage(Message.TEXT_TYPE, !chance(8), chance(80) ? 0 : now + (chance(50) ? 86_400_000L : 1 + random.nextInt(300)), now, (byte) (chance(60) ? 4 : random.nextInt(10)));
         int size = chance(4) ? 15_000 + random.nextInt(30_000) : random.nextInt(chance(10) ? 6000 : 600);
         StringBuilder text = new StringBuilder();
         while (text.length() < size / 2) {
            text.append(COLORS[random.nextInt(3)]).append(random.nextInt(100)).append(' ');
         }
         m.getBodyBuffer().writeNullableString(text.toString());
         m.putLongProperty("seq", seqs.incrementAndGet());
         m.putStringProperty("color", one(COLORS));
         m.putIntProperty("n", random.nextInt(10));
         m.putStringProperty("key", "k" + random.nextInt(12));
         if (chance(15)) {
            m.putStringProperty("_AMQ_GROUP_ID", "g" + random.nextInt(3));
         }
         if (chance(5)) {
            m.putStringProperty("_AMQ_DUPL_ID", "d" + random.nextInt(200));
         }
         if (chance(6)) {
            m.putLongProperty("_AMQ_SCHED_DELIVERY", now + (chance(60) ? 86_400_000L + random.nextInt(1000) * 1000 : random.nextInt(400)));
         }
         return m;
      }

      void send(boolean together) throws Exception {
         String address = one(ADDRESSES);
         int size = 1 + random.nextInt(together ? 25 : 4);
         try (ClientSession session = factory.createSession(!together, true, 0)) {
            ClientProducer producer = session.createProducer();
            for (int n = 0; n < size; n++) {
               producer.send(address, message(session, address));
               if (together && chance(20)) {
                  address = one(ADDRESSES);
               }
            }
            if (together && chance(15)) {
               session.rollback();
               count(2, size);
            } else {
               if (together) {
                  session.commit();
               }
               count(0, size);
            }
         }
      }

      void take(String queue) throws Exception {
         boolean keeps = queue.equals("log") || queue.equals("state");
         int most = keeps ? 3 : filling ? 12 : 60;
         try (ClientSession session = factory.createSession(false, false, 0)) {
            session.start();
            ClientConsumer consumer = session.createConsumer(queue);
            int size = 0;
            for (; size < most; size++) {
               ClientMessage m = consumer.receive(60);
               if (m == null) {
                  break;
               }
               if (chance(85)) {
                  m.individualAcknowledge();
               }
            }
            if (chance(25)) {
               session.rollback();
               count(2, size);
            } else {
               session.commit();
               count(1, size);
            }
         }
      }

      void branch() throws Exception {
         Xid xid = new XidImpl(("life-" + seed).getBytes(), 1, ("branch-" + seqs.incrementAndGet()).getBytes());
         try (ClientSession session = factory.createSession(true, false, false)) {
            session.start(xid, XAResource.TMNOFLAGS);
            session.start();
            ClientProducer producer = session.createProducer();
            for (int n = random.nextInt(6); n >= 0; n--) {
               String address = one(ADDRESSES);
               producer.send(address, message(session, address));
            }
            ClientConsumer consumer = session.createConsumer(chance(50) ? "paged" : one(QUEUES));
            for (int n = random.nextInt(4); n > 0; n--) {
               ClientMessage m = consumer.receive(60);
               if (m != null) {
                  m.acknowledge();
               }
            }
            session.end(xid, XAResource.TMSUCCESS);
            session.prepare(xid);
            count(3, 1);
            if (chance(70)) {
               session.commit(xid, false);
            } else if (chance(60)) {
               session.rollback(xid);
            }
         }
      }

      /** A queue that comes and goes, most often with what it holds. */
      void passing() throws Exception {
         String name = "passing." + number + "." + random.nextInt(3);
         try (ClientSession session = factory.createSession(true, true, 0)) {
            QueueConfiguration queue = new QueueConfiguration(name);
            queue.setRoutingType(RoutingType.ANYCAST).setDurable(true);
            if (session.queueQuery(queue.getName()).isExists()) {
               session.deleteQueue(name);
            } else {
               session.createQueue(queue);
               ClientProducer producer = session.createProducer(name);
               for (int n = random.nextInt(8); n >= 0; n--) {
                  producer.send(message(session, name));
               }
            }
         }
      }

      /** Messages of AMQP, ordinary, large and delayed. */
      static final class Amqp implements Runnable {

         @Override
         public void run() {
            Random random = new Random(seed * 31 + 7);
            try (Client client = Client.create(); Connection connection = client.connect("127.0.0.1", port, new ConnectionOptions())) {
               while (running.get()) {
                  String address = ADDRESSES[random.nextInt(ADDRESSES.length)];
                  SenderOptions options = new SenderOptions();
                  options.targetOptions().capabilities(address.equals("news") || address.equals("wide") ? "topic" : "queue");
                  try (Sender sender = connection.openSender(address, options)) {
                     for (int n = random.nextInt(6); n >= 0; n--) {
                        int size = random.nextInt(25) == 0 ? 120_000 : random.nextInt(500);
                        org.apache.qpid.protonj2.client.Message<String> m = org.apache.qpid.protonj2.client.Message.create("amqp ".repeat(size / 5));
                        m.durable(random.nextInt(10) > 0).priority((byte) (random.nextBoolean() ? 4 : random.nextInt(10)));
                        m.property("seq", seqs.incrementAndGet()).property("color", COLORS[random.nextInt(3)]).property("n", random.nextInt(10)).property("key", "k" + random.nextInt(12));
                        if (random.nextInt(12) == 0) {
                           m.annotation("x-opt-delivery-time", System.currentTimeMillis() + 90_000_000L + random.nextInt(1000) * 1000);
                        }
                        if (random.nextInt(12) == 0) {
                           m.timeToLive(1 + random.nextInt(200));
                        }
                        sender.send(m).awaitSettlement();
                        count(4, 1);
                     }
                  }
                  done.incrementAndGet();
                  Thread.sleep(random.nextInt(40));
               }
            } catch (Exception ended) {
               System.err.println("amqp: " + ended);
            }
         }
      }

      /** What somebody at the console does: messages moved, retried, expired, given another priority. */
      static final class Operator implements Runnable {

         @Override
         public void run() {
            Random random = new Random(seed * 31 + 8);
            while (running.get()) {
               try {
                  Thread.sleep(30 + random.nextInt(200));
                  String name = QUEUES[random.nextInt(QUEUES.length - 1)];
                  QueueControl queue = (QueueControl) broker.getActiveMQServer().getManagementService().getResource("queue." + name);
                  String some = "n = " + random.nextInt(10);
                  switch (random.nextInt(7)) {
                     case 0 -> queue.moveMessages(some, random.nextBoolean() ? "jobs" : "paged");
                     case 1 -> queue.changeMessagesPriority(some, random.nextInt(10));
                     case 2 -> queue.sendMessagesToDeadLetterAddress(some);
                     case 3 -> queue.expireMessages(some);
                     case 4 -> queue.removeMessages(some);
                     default -> ((QueueControl) broker.getActiveMQServer().getManagementService().getResource("queue.DLQ")).retryMessages();
                  }
               } catch (Exception refused) {
                  count(5, 1);
               }
            }
         }
      }
   }
}
