import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * A broker that pages under steady transactional traffic over loopback. Arguments: broker.xml (data directories and an
 * acceptor are in it), the acceptor's port. Lines of standard input are commands, each answered by one line:
 *
 *   count    sent committed, consumed committed, and the broker's own counts: messages of the queue, those of them that
 *            were paged and are not acknowledged, pages of the address
 *   pause    no transaction is open from here on: everything sent is committed, everything received acknowledged
 *   go       traffic goes on
 *   stop     ends
 */
public final class SoakBroker {

   static final String QUEUE = "soak";
   /** So many messages wait at most: from then on as many pages go as come. */
   static final long BACKLOG = 10_000;
   static final AtomicLong sent = new AtomicLong();
   static final AtomicLong consumed = new AtomicLong();
   static final AtomicBoolean running = new AtomicBoolean(true);
   /** Traffic holds it to read for a transaction; whoever wants quiet takes it to write. */
   static final ReentrantReadWriteLock quiet = new ReentrantReadWriteLock(true);

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      PrintStream out = System.out;
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(args[0]).toUri().toString());
      broker.start();
      ServerLocator locator = ActiveMQClient.createServerLocator("tcp://127.0.0.1:" + args[1]);
      locator.setBlockOnDurableSend(false).setConsumerWindowSize(0);
      ClientSessionFactory factory = locator.createSessionFactory();
      try (ClientSession session = factory.createSession()) {
         session.createQueue(QueueConfiguration.of(QUEUE).setRoutingType(RoutingType.ANYCAST).setDurable(true));
      } catch (org.apache.activemq.artemis.api.core.ActiveMQQueueExistsException already) {
         // a second run on the same directory
      }
      for (int producer = 0; producer < 2; producer++) {
         start(new Producer(factory, producer));
      }
      start(new Consumer(factory));
      out.println("started");
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
      for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
         switch (line) {
            case "pause" -> quiet.writeLock().lock();
            case "go" -> quiet.writeLock().unlock();
            default -> { }
         }
         Queue queue = broker.getActiveMQServer().locateQueue(QUEUE);
         long pages = queue.getPagingStore().getNumberOfPages();
         long paged = queue.getPageSubscription().getCounter().getValue();
         out.println(sent.get() + " " + consumed.get() + " " + queue.getMessageCount() + " " + paged + " " + pages);
      }
      running.set(false);
      if (quiet.isWriteLockedByCurrentThread()) {
         quiet.writeLock().unlock();
      }
      Runtime.getRuntime().halt(0);
   }

   static void start(Runnable work) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      thread.start();
   }

   record Producer(ClientSessionFactory factory, int number) implements Runnable {

      @Override
      public void run() {
         Random random = new Random(number);
         try (ClientSession session = factory.createSession(false, false)) {
            ClientProducer producer = session.createProducer(QUEUE);
            while (running.get()) {
               while (sent.get() - consumed.get() > BACKLOG) {
                  Thread.sleep(20);
               }
               quiet.readLock().lock();
               try {
                  int count = 1 + random.nextInt(20);
                  for (int n = 0; n < count; n++) {
                     ClientMessage message = session.createMessage(true);
                     // now and then a large message, with a body file of its own
                     message.getBodyBuffer().writeBytes(new byte[random.nextInt(200) == 0 ? 150_000 : random.nextInt(2000)]);
                     producer.send(message);
                     Thread.sleep(1);
                  }
                  if (random.nextInt(10) == 0) {
                     session.rollback();
                  } else {
                     session.commit();
                     sent.addAndGet(count);
                  }
               } finally {
                  quiet.readLock().unlock();
               }
               Thread.sleep(random.nextInt(30));
            }
         } catch (Exception ended) {
            System.err.println("producer: " + ended);
         }
      }
   }

   record Consumer(ClientSessionFactory factory) implements Runnable {

      @Override
      public void run() {
         Random random = new Random(99);
         try (ClientSession session = factory.createSession(false, false)) {
            session.start();
            ClientConsumer consumer = session.createConsumer(QUEUE);
            while (running.get()) {
               quiet.readLock().lock();
               try {
                  int count = 0;
                  for (int n = 0; n < 12; n++) {
                     ClientMessage message = consumer.receive(200);
                     if (message != null) {
                        message.acknowledge();
                        count++;
                     }
                  }
                  session.commit();
                  consumed.addAndGet(count);
               } finally {
                  quiet.readLock().unlock();
               }
               Thread.sleep(random.nextInt(60));
            }
         } catch (Exception ended) {
            System.err.println("consumer: " + ended);
         }
      }
   }
}
