import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Random;
import java.util.StringJoiner;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.api.core.management.QueueControl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.server.management.ManagementService;

/**
 * A broker whose queues fill and drain in journal and pages. Arguments: broker.xml (queues, data directories and an
 * acceptor are in it), the acceptor's port, the seed of the traffic. Lines of standard input are commands, each answered
 * by one line with the message count of every queue as its management says it, as NAME=COUNT separated by spaces:
 *
 *   count    as it is now
 *   pause    no transaction is open from here on
 *   go       traffic goes on
 */
public final class ScrapedBroker {

   /** Traffic holds it to read for a transaction; whoever wants quiet takes it to write. */
   static final ReentrantReadWriteLock quiet = new ReentrantReadWriteLock(true);

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      PrintStream out = System.out;
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(args[0]).toUri().toString());
      broker.start();
      ServerLocator locator = ActiveMQClient.createServerLocator("tcp://127.0.0.1:" + args[1]);
      locator.setConsumerWindowSize(0).setMinLargeMessageSize(100_000);
      ClientSessionFactory factory = locator.createSessionFactory();
      long seed = Long.parseLong(args[2]);
      for (String address : new String[] {"small", "orders", "events", "later"}) {
         start(new Producer(factory, address, new Random(seed++)));
      }
      for (String queue : new String[] {"small", "orders", "events.busy", "events.odd", "later"}) {
         start(new Consumer(factory, queue, new Random(seed++)));
      }
      out.println("started");
      ManagementService management = broker.getActiveMQServer().getManagementService();
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
         switch (line) {
            case "pause" -> quiet.writeLock().lock();
            case "go" -> quiet.writeLock().unlock();
            default -> { }
         }
         StringJoiner counts = new StringJoiner(" ");
         for (Object resource : management.getResources(QueueControl.class)) {
            QueueControl queue = (QueueControl) resource;
            counts.add(queue.getName() + "=" + queue.getMessageCount());
         }
         out.println(counts);
      }
      Runtime.getRuntime().halt(0);
   }

   static void start(Runnable work) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      thread.start();
   }

   /** Sends more than is consumed for twenty seconds, and less for the next twenty. */
   record Producer(ClientSessionFactory factory, String address, Random random) implements Runnable {

      @Override
      public void run() {
         try (ClientSession session = factory.createSession(false, false)) {
            ClientProducer producer = session.createProducer(address);
            while (true) {
               quiet.readLock().lock();
               try {
                  int count = 1 + random.nextInt(20);
                  for (int n = 0; n < count; n++) {
                     ClientMessage message = session.createMessage(true);
                     message.putIntProperty("n", random.nextInt(100));
                     if (address.equals("later")) {
                        message.putLongProperty(Message.HDR_SCHEDULED_DELIVERY_TIME, System.currentTimeMillis() + random.nextInt(60_000));
                     }
                     boolean large = random.nextInt(200) == 0;
                     message.getBodyBuffer().writeBytes(new byte[large ? 150_000 : random.nextInt(2000)]);
                     producer.send(message);
                  }
                  if (random.nextInt(10) == 0) {
                     session.rollback();
                  } else {
                     session.commit();
                  }
               } finally {
                  quiet.readLock().unlock();
               }
               boolean slow = System.currentTimeMillis() / 20_000 % 2 == 0;
               Thread.sleep(random.nextInt(slow ? 400 : 60));
            }
         } catch (Exception ended) {
            System.err.println("producer of " + address + ": " + ended);
         }
      }
   }

   /** One transaction of seven is rolled back, so that some messages come to the dead letters. */
   record Consumer(ClientSessionFactory factory, String queue, Random random) implements Runnable {

      @Override
      public void run() {
         try (ClientSession session = factory.createSession(false, false)) {
            session.start();
            ClientConsumer consumer = session.createConsumer(queue);
            while (true) {
               quiet.readLock().lock();
               try {
                  for (int n = random.nextInt(15); n >= 0; n--) {
                     ClientMessage message = consumer.receiveImmediate();
                     if (message != null) {
                        message.acknowledge();
                     }
                  }
                  if (random.nextInt(7) == 0) {
                     session.rollback();
                  } else {
                     session.commit();
                  }
               } finally {
                  quiet.readLock().unlock();
               }
               Thread.sleep(random.nextInt(120));
            }
         } catch (Exception ended) {
            System.err.println("consumer of " + queue + ": " + ended);
         }
      }
   }
}
