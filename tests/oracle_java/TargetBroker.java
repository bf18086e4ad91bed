import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;

import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * A broker that messages are sent to. Argument: its broker.xml. Says "started"; then each line of standard input is a
 * command that one line answers:
 *
 *   count QUEUE    messages of the queue, -1 where there is none
 *   empty QUEUE    the same, and they are removed
 *   stop           ends in order
 */
public final class TargetBroker {

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      PrintStream out = System.out;
      EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
      broker.setConfigResourcePath(Path.of(args[0]).toUri().toString());
      broker.start();
      out.println("started");
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
      for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
         String[] words = line.split(" ", 2);
         Queue queue = broker.getActiveMQServer().locateQueue(SimpleString.toSimpleString(words[1]));
         if (queue != null) {
            queue.flushExecutor();
         }
         out.println(queue == null ? -1 : words[0].equals("empty") ? queue.deleteAllReferences() : queue.getMessageCount());
      }
      broker.stop();
      out.println("stopped");
      System.exit(0);
   }
}
