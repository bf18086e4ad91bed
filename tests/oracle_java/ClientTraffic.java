import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.Enumeration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.ConnectionFactory;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.QueueBrowser;
import javax.jms.Session;

import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.eclipse.paho.client.mqttv3.MqttCallback;
import org.eclipse.paho.client.mqttv3.IMqttDeliveryToken;
import org.eclipse.paho.client.mqttv3.MqttClient;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.MqttMessage;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;

/**
 * Real clients on a real broker, whose logging plugin writes down what they did. Arguments: broker.xml (with the plugin
 * and an acceptor for CORE, AMQP and MQTT), the acceptor's port, the log to write, the traffic, messages, a seed.
 *
 *   jms-transactions        core JMS client: transacted producers to a queue and a topic, transacted consumers, a durable
 *                           subscriber; some transactions are rolled back
 *   amqp-and-mqtt           Qpid JMS producers and consumers over AMQP; Paho publishers and subscribers over MQTT, one of
 *                           which is away for a while
 *   browsers-and-selectors  core JMS client: consumers that select, and browsers with and without selector
 *
 * Consumers come when a third of the messages is there, and all are taken in the end. Each queue has one producer, and
 * one consumer where transactions are rolled back: in which order a broker treats several, no log tells for sure.
 */
public final class ClientTraffic {

   static final String LOGGER = "org.apache.activemq.artemis.core.server.plugin.impl";
   static final String[] REGIONS = {"north", "south", "east", "west"};
   static final AtomicInteger sent = new AtomicInteger();
   static final AtomicInteger awaited = new AtomicInteger();
   static final AtomicInteger taken = new AtomicInteger();
   static final List<Thread> threads = new ArrayList<>();
   static volatile Throwable failure;
   static int messages;
   static int seed;
   static String port;

   interface Work {
      void run(Random random) throws Exception;
   }

   public static void main(String[] args) throws Exception {
      port = args[1];
      messages = Integer.parseInt(args[4]);
      seed = Integer.parseInt(args[5]);
      LogManager.getLogManager().reset();
      Logger plugin = Logger.getLogger(LOGGER);
      plugin.setLevel(Level.FINE);
      LogFile file = new LogFile(Path.of(args[2]));
      plugin.addHandler(file);
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(args[0]).toUri().toString());
      broker.start();
      switch (args[3]) {
         case "jms-transactions" -> transactions();
         case "amqp-and-mqtt" -> protocols();
         case "browsers-and-selectors" -> selectors();
         default -> throw new IllegalArgumentException(args[3]);
      }
      for (Thread thread : threads) {
         thread.join();
      }
      Thread.sleep(500);
      file.close();
      if (failure != null) {
         failure.printStackTrace();
      }
      System.out.println(sent + " sent, " + taken + " taken");
      Runtime.getRuntime().halt(failure == null ? 0 : 1);
   }

   /** The pattern of the distribution's log4j2.properties, %d %-5level [%logger] %msg%n; no thread waits for another's line. */
   static final class LogFile extends Handler {
      final ConcurrentLinkedQueue<LogRecord> records = new ConcurrentLinkedQueue<>();
      final Path path;

      LogFile(Path path) {
         this.path = path;
      }

      @Override
      public void publish(LogRecord record) {
         records.add(record);
      }

      @Override
      public void flush() {
      }

      @Override
      public void close() {
         SimpleDateFormat date = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss,SSS");
         try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(path, StandardCharsets.UTF_8))) {
            for (LogRecord record : records) {
               String level = record.getLevel() == Level.INFO ? "INFO " : "DEBUG";
               out.println(date.format(new Date(record.getMillis())) + " " + level + " [" + record.getLoggerName() + "] " + record.getMessage());
            }
         } catch (java.io.IOException failed) {
            failure = failed;
         }
      }
   }

   static void start(int number, Work work) {
      Thread thread = new Thread(() -> {
         try {
            work.run(new Random(seed * 1000L + number));
         } catch (Throwable failed) {
            failure = failed;
         }
      });
      threads.add(thread);
      thread.start();
   }

   /** Until so many thirds of the messages have been sent. */
   static void untilThird(int thirds) throws InterruptedException {
      while (sent.get() < (long) messages * thirds / 3 && failure == null) {
         Thread.sleep(10);
      }
   }

   static boolean more() {
      return failure == null && (sent.get() < messages || taken.get() < awaited.get());
   }

   static BytesMessage bytes(Session session, Random random) throws Exception {
      BytesMessage message = session.createBytesMessage();
      message.writeBytes(new byte[200 + random.nextInt(2000)]);
      return message;
   }

   static Connection connect(ConnectionFactory factory, String client) throws Exception {
      Connection connection = factory.createConnection();
      if (client != null) {
         connection.setClientID(client);
      }
      connection.start();
      return connection;
   }

   // ---- JMS transactions ------------------------------------------------------------------------------------------
   static void transactions() throws Exception {
      ConnectionFactory factory = new ActiveMQConnectionFactory("tcp://127.0.0.1:" + port);
      Connection subscriber = connect(factory, "audit");
      Session first = subscriber.createSession(true, Session.SESSION_TRANSACTED);
      MessageConsumer subscription = first.createDurableSubscriber(first.createTopic("prices"), "audit");
      for (int n = 0; n < 2; n++) {
         String orders = "orders." + n;
         boolean publishes = n == 0;
         start(n, random -> {
            try (Connection connection = connect(factory, null)) {
               Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
               MessageProducer queue = session.createProducer(session.createQueue(orders));
               MessageProducer topic = session.createProducer(session.createTopic("prices"));
               while (sent.get() < messages) {
                  int count = 1 + random.nextInt(20);
                  boolean some = publishes && random.nextInt(4) == 0;
                  for (int k = 0; k < count; k++) {
                     (some && k % 2 == 0 ? topic : queue).send(bytes(session, random));
                  }
                  if (random.nextInt(10) == 0) {
                     session.rollback();
                  } else {
                     session.commit();
                     awaited.addAndGet(count);
                  }
                  sent.addAndGet(count);
               }
            }
         });
      }
      for (int n = 2; n < 4; n++) {
         String orders = "orders." + n % 2;
         start(n, random -> {
            untilThird(1);
            try (Connection connection = connect(factory, null)) {
               Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
               consume(session, session.createConsumer(session.createQueue(orders)), random);
            }
         });
      }
      start(5, random -> {
         consume(first, subscription, random);
         subscriber.close();
      });
   }

   static void consume(Session session, MessageConsumer consumer, Random random) throws Exception {
      while (more()) {
         int count = 0;
         int most = 1 + random.nextInt(15);
         for (Message got = consumer.receive(200); got != null; got = count < most ? consumer.receive(200) : null) {
            count++;
         }
         if (random.nextInt(15) == 0) {
            session.rollback();
         } else {
            session.commit();
            taken.addAndGet(count);
         }
      }
   }

   // ---- AMQP and MQTT ---------------------------------------------------------------------------------------------
   static void protocols() throws Exception {
      ConnectionFactory factory = new JmsConnectionFactory("amqp://127.0.0.1:" + port);
      for (int n = 0; n < 2; n++) {
         String orders = "orders." + n;
         start(n, random -> {
            try (Connection connection = connect(factory, null)) {
               Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
               MessageProducer producer = session.createProducer(session.createQueue(orders));
               while (sent.get() < messages) {
                  awaited.incrementAndGet();
                  producer.send(bytes(session, random));
                  sent.incrementAndGet();
               }
            }
         });
      }
      for (int n = 2; n < 5; n++) {
         int mode = n == 2 ? Session.CLIENT_ACKNOWLEDGE : Session.AUTO_ACKNOWLEDGE;
         String orders = "orders." + n % 2;
         start(n, random -> {
            untilThird(1);
            try (Connection connection = connect(factory, null)) {
               Session session = connection.createSession(false, mode);
               MessageConsumer consumer = session.createConsumer(session.createQueue(orders));
               int open = 0;
               while (more()) {
                  Message got = consumer.receive(200);
                  open += got != null ? 1 : 0;
                  if (mode == Session.AUTO_ACKNOWLEDGE || got == null || open == 20) {
                     if (got != null && mode != Session.AUTO_ACKNOWLEDGE) {
                        got.acknowledge();
                     }
                     taken.addAndGet(open);
                     open = 0;
                  }
               }
            }
         });
      }
      MqttClient steady = subscriber("steady", 1);
      MqttClient away = subscriber("away", 1);
      away.disconnect();
      away.close();
      start(5, random -> {
         MqttClient publisher = new MqttClient("tcp://127.0.0.1:" + port, "meter", new MemoryPersistence());
         MqttConnectOptions options = new MqttConnectOptions();
         options.setMaxInflight(1000);
         publisher.connect(options);
         while (sent.get() < messages) {
            awaited.addAndGet(2);
            publisher.publish("sensors/" + random.nextInt(3), new byte[50 + random.nextInt(300)], 1, false);
            sent.incrementAndGet();
         }
         publisher.disconnect();
         publisher.close();
      });
      start(6, random -> {
         untilThird(2);
         MqttClient back = subscriber("away", 1);
         while (more()) {
            Thread.sleep(50);
         }
         for (MqttClient one : new MqttClient[] {steady, back}) {
            one.disconnect();
            one.close();
         }
      });
   }

   static MqttClient subscriber(String name, int qos) throws Exception {
      MqttClient client = new MqttClient("tcp://127.0.0.1:" + port, name, new MemoryPersistence());
      MqttConnectOptions options = new MqttConnectOptions();
      options.setCleanSession(false);
      client.setCallback(new MqttCallback() {
         @Override
         public void connectionLost(Throwable cause) {
         }

         @Override
         public void messageArrived(String topic, MqttMessage message) {
            taken.incrementAndGet();
         }

         @Override
         public void deliveryComplete(IMqttDeliveryToken token) {
         }
      });
      client.connect(options);
      client.subscribe("sensors/#", qos);
      return client;
   }

   // ---- browsers and selectors ------------------------------------------------------------------------------------
   static void selectors() throws Exception {
      ConnectionFactory factory = new ActiveMQConnectionFactory("tcp://127.0.0.1:" + port);
      start(0, random -> {
         try (Connection connection = connect(factory, null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = session.createProducer(session.createQueue("orders"));
            while (sent.get() < messages) {
               Message message = bytes(session, random);
               message.setStringProperty("region", REGIONS[random.nextInt(REGIONS.length)]);
               message.setIntProperty("weight", random.nextInt(100));
               awaited.incrementAndGet();
               producer.send(message);
               sent.incrementAndGet();
            }
         }
      });
      String[] selectors = {"region = 'north'", "weight > 50 AND region <> 'west'", null};
      for (int n = 0; n < selectors.length; n++) {
         String selector = selectors[n];
         start(2 + n, random -> {
            untilThird(selector == null ? 2 : 1);
            try (Connection connection = connect(factory, null)) {
               Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
               MessageConsumer consumer = session.createConsumer(session.createQueue("orders"), selector);
               while (more()) {
                  if (consumer.receive(200) != null) {
                     taken.incrementAndGet();
                  }
               }
            }
         });
      }
      start(9, random -> {
         untilThird(1);
         try (Connection connection = connect(factory, null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("orders");
            while (more()) {
               QueueBrowser browser = session.createBrowser(queue, random.nextBoolean() ? "weight = 7" : null);
               for (Enumeration<?> all = browser.getEnumeration(); all.hasMoreElements(); ) {
                  all.nextElement();
               }
               browser.close();
               Thread.sleep(100 + random.nextInt(400));
            }
         }
      });
   }
}
