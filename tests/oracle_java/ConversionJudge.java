import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.apache.activemq.artemis.core.config.FileDeploymentManager;
import org.apache.activemq.artemis.core.config.impl.FileConfiguration;

/**
 * What a broker makes of a configuration in one form and in another. Each line of the list that is named is A.xml TAB B.xml TAB
 * C.properties (or nothing): the beans of A are compared with those of B over which C is applied. Tells for each line A, what the status has
 * against C, and each field that differs with the text of both: fields of one record between \u0001, records on lines.
 */
public final class ConversionJudge {

   public static void main(String[] args) throws Exception {
      PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
      for (String line : Files.readAllLines(Path.of(args[0]))) {
         String[] files = line.split("\t", -1);
         List<String> said = new ArrayList<>(List.of(files[0]));
         try {
            Map<String, String> before = beans(read(files[0]));
            try {
               FileConfiguration other = read(files[1]);
               if (!files[2].isEmpty()) {
                  other.parseProperties(files[2]);
                  said.add("status " + other.getStatus());
               }
               Map<String, String> after = beans(other);
               Set<String> names = new TreeSet<>(before.keySet());
               names.addAll(after.keySet());
               for (String name : names) {
                  if (!String.valueOf(before.get(name)).equals(String.valueOf(after.get(name)))) {
                     said.add("differs " + name + " " + before.get(name) + " -> " + after.get(name));
                  }
               }
            } catch (Throwable t) {
               said.add("fails " + t);
            }
         } catch (Throwable t) {
            said.add("refused " + t);
         }
         out.println(String.join("\u0001", said).replaceAll("[\r\n]", " "));
      }
      out.flush();
      Runtime.getRuntime().halt(0);
   }

   private static FileConfiguration read(String xml) throws Exception {
      FileConfiguration configuration = new FileConfiguration();
      FileDeploymentManager manager = new FileDeploymentManager(new File(xml).toURI().toString());
      manager.addDeployable(configuration);
      manager.readConfiguration();
      return configuration;
   }

   private static Map<String, String> beans(Object root) throws Exception {
      Map<String, String> found = new TreeMap<>();
      walk(root, "", found, Collections.newSetFromMap(new IdentityHashMap<>()), 0);
      return found;
   }

   private static void walk(Object one, String path, Map<String, String> found, Set<Object> above, int depth) throws Exception {
      if (one instanceof Map<?, ?> map) {
         for (Map.Entry<?, ?> each : map.entrySet()) {
            walk(each.getValue(), path + "[" + each.getKey() + "]", found, above, depth + 1);
         }
      } else if (one instanceof Collection<?> many) {
         // by the name of each, or else by what it holds; the order of a list counts where names do not tell
         Map<String, Object> sorted = new TreeMap<>();
         int number = 0;
         for (Object each : many) {
            Object name = each == null || !ours(each) ? each : name(each);
            String key = name != null && !sorted.containsKey("" + name) ? "" + name : name + "#" + number;
            sorted.put(key, each);
            number++;
         }
         for (Map.Entry<String, Object> each : sorted.entrySet()) {
            walk(each.getValue(), path + "[" + each.getKey() + "]", found, above, depth + 1);
         }
      } else if (one != null && ours(one) && depth < 12 && above.add(one)) {
         found.put(path + ".class", one.getClass().getSimpleName().replaceAll("^AMQP(Sender|Receiver|Peer)Broker", "AMQPBroker").replace("LiveOnlyPolicy", "PrimaryOnlyPolicy"));
         for (Class<?> kind = one.getClass(); kind != null && kind.getName().startsWith("org.apache."); kind = kind.getSuperclass()) {
            for (Field field : kind.getDeclaredFields()) {
               if (!Modifier.isStatic(field.getModifiers()) && !field.getName().equals("parent")) {
                  field.setAccessible(true);
                  if (field.getName().equals("name") && !String.valueOf(field.get(one)).equals(String.valueOf(name(one)))) {
                     continue;
                  }
                  walk(field.get(one), path + "." + field.getName(), found, above, depth + 1);
               }
            }
         }
         above.remove(one);
      } else if (one != null) {
         found.put(path, one.getClass().getName().startsWith("java.lang.") || one instanceof File || one instanceof Enum || !ours(one) ? String.valueOf(one) : "...");
      }
   }

   /** What has no name of its own is called after its class. Matchers are made by properties under a name that elements have none for: what they match names them. */
   private static Object name(Object one) throws Exception {
      StringBuilder matches = new StringBuilder();
      Object name = null;
      for (Class<?> kind = one.getClass(); kind != null && kind.getName().startsWith("org.apache."); kind = kind.getSuperclass()) {
         for (Field field : kind.getDeclaredFields()) {
            field.setAccessible(true);
            if (field.getName().equals("addressMatch") || field.getName().equals("queueMatch")) {
               matches.append(field.get(one)).append('/');
            } else if (field.getName().equals("name") && name == null) {
               name = field.get(one);
            }
         }
      }
      return matches.length() > 0 ? matches : name == null || name.toString().matches("default|mirror-\\d+|peer-\\d+|sender-\\d+|receiver-\\d+") ? one.getClass().getSimpleName().replaceAll("^AMQP(Sender|Receiver|Peer)Broker", "AMQPBroker") : name;
   }

   private static boolean ours(Object one) {
      return one.getClass().getName().startsWith("org.apache.") && !(one instanceof CharSequence) && !(one instanceof Enum);
   }
}
