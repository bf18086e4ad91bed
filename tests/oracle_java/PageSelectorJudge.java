import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.filter.Filter;
import org.apache.activemq.artemis.core.filter.impl.FilterImpl;
import org.apache.activemq.artemis.core.io.SequentialFile;
import org.apache.activemq.artemis.core.io.SequentialFileFactory;
import org.apache.activemq.artemis.core.io.nio.NIOSequentialFileFactory;
import org.apache.activemq.artemis.core.paging.PagedMessage;
import org.apache.activemq.artemis.core.paging.impl.PageReadWriter;
import org.apache.activemq.artemis.core.persistence.StorageManager;
import org.apache.activemq.artemis.core.persistence.impl.nullpm.NullStorageManager;

/**
 * Asks the broker's own filter about the messages of page files. The argument names a file with a selector a line, as
 * hex of UTF-16; each line of standard input names a page file. One answer a line: for each message, in order, a digit
 * for each selector: 1 matches, 0 does not, - the selector is refused.
 */
public final class PageSelectorJudge {

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      List<Filter> filters = new ArrayList<>();
      for (String line : Files.readAllLines(Path.of(args[0]))) {
         filters.add(filter(new String(HexFormat.of().parseHex(line), StandardCharsets.UTF_16BE)));
      }
      PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
         List<String> answers = new ArrayList<>();
         for (Message message : messages(new File(line))) {
            StringBuilder digits = new StringBuilder();
            for (Filter filter : filters) {
               digits.append(filter == null ? '-' : filter.match(message) ? '1' : '0');
            }
            answers.add(digits.toString());
         }
         out.println(String.join(" ", answers));
      }
      out.flush();
      Runtime.getRuntime().halt(0);
   }

   private static Filter filter(String selector) {
      try {
         return FilterImpl.createFilter(selector);
      } catch (org.apache.activemq.artemis.api.core.ActiveMQException refused) {
         return null;
      }
   }

   private static List<Message> messages(File page) throws Exception {
      StorageManager storage = new NullStorageManager();
      SequentialFileFactory factory = new NIOSequentialFileFactory(page.getParentFile(), false, (a, b, c) -> { }, 1);
      SequentialFile file = factory.createSequentialFile(page.getName());
      List<PagedMessage> read = new ArrayList<>();
      file.open();
      PageReadWriter.readFromSequentialFile(storage, new SimpleString("x".getBytes(StandardCharsets.UTF_16LE)), factory, file, 1,
                                            read::add, PageReadWriter.NO_SKIP, (f, position, number) -> { }, size -> { });
      List<Message> messages = new ArrayList<>();
      for (PagedMessage paged : read) {
         paged.initMessage(storage);
         paged.getMessage().getUserID();  // an AMQP message answers from its sections only when it was looked into
         messages.add(paged.getMessage());
      }
      return messages;
   }
}
