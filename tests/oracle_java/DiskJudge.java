import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.io.IOCriticalErrorListener;
import org.apache.activemq.artemis.core.server.files.FileStoreMonitor;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;

/**
 * Asks a broker's own monitor for its verdict. One question a line on standard input, one answer a line on standard output:
 *
 *   limit PERCENT [MINIMUM]              the limit that a started broker with these settings uses: "usage D", "minimum N" or "none"
 *   usage LIMIT USABLE:TOTAL ...         stub file systems against the broker's number LIMIT: "within" or "beyond", usable, total
 *   minimum BYTES USABLE:TOTAL ...
 *   path-usage LIMIT PATH ...            the file systems of existing directories
 *   path-minimum BYTES PATH ...
 *   space PATH                           what this virtual machine sees: "USABLE TOTAL STORE"
 */
public final class DiskJudge {

   static final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
   static final ExecutorService executor = Executors.newSingleThreadExecutor();

   public static void main(String[] args) throws Exception {
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
         System.out.println("= " + answer(line.trim().split(" ")));
         System.out.flush();
      }
      System.exit(0);
   }

   static String answer(String[] words) throws Exception {
      try {
         switch (words[0]) {
            case "limit":
               return limit(Integer.parseInt(words[1]), words.length > 2 ? Long.valueOf(words[2]) : null);
            case "space": {
               FileStore store = Files.getFileStore(new File(words[1]).toPath());
               return store.getUsableSpace() + " " + store.getTotalSpace() + " " + store.name();
            }
            default:
               return judge(words);
         }
      } catch (Exception e) {
         return "error " + e;
      }
   }

   static String judge(String[] words) throws Exception {
      boolean minimum = words[0].endsWith("minimum");
      FileStoreMonitor monitor = monitor(minimum, words[1]);
      for (int i = 2; i < words.length; i++) {
         if (words[0].startsWith("path-")) {
            monitor.addStore(new File(words[i]));
         } else {
            String[] numbers = words[i].split(":");
            monitor.addStore(new Stub(Long.parseLong(numbers[0]), Long.parseLong(numbers[1])));
         }
      }
      String[] seen = new String[1];
      Class<?> callback = Class.forName(FileStoreMonitor.class.getName() + "$Callback");
      InvocationHandler record = (proxy, method, values) -> {
         if (method.getDeclaringClass() == Object.class) {
            return method.getName().equals("hashCode") ? (Object) 1 : method.getName().equals("equals") ? (Object) (proxy == values[0]) : "callback";
         }
         // 2.31 and later: tick(usable, total, within, kind); 2.17 to 2.30: over or under (usable, total); before: (store, usage)
         boolean numbers = values != null && values.length > 1 && values[0] instanceof Long;
         String space = numbers ? " " + values[0] + " " + values[1] : "";
         if (method.getName().equals("tick") && values.length == 4) {
            seen[0] = ((Boolean) values[2] ? "within" : "beyond") + space;
         } else if (!method.getName().equals("tick")) {
            seen[0] = (method.getName().equals("over") ? "beyond" : "within") + space;
         }
         return null;
      };
      Object proxy = Proxy.newProxyInstance(DiskJudge.class.getClassLoader(), new Class<?>[] {callback}, record);
      FileStoreMonitor.class.getMethod("addCallback", callback).invoke(monitor, proxy);
      monitor.tick();
      return seen[0];
   }

   /** The constructor has changed: with a kind since 2.31, with fewer arguments in the first releases. */
   static FileStoreMonitor monitor(boolean minimum, String limit) throws Exception {
      IOCriticalErrorListener listener = listener();
      for (Constructor<?> constructor : FileStoreMonitor.class.getConstructors()) {
         Class<?>[] types = constructor.getParameterTypes();
         Object[] values = new Object[types.length];
         for (int i = 0; i < types.length; i++) {
            if (types[i] == ScheduledExecutorService.class) {
               values[i] = timer;
            } else if (types[i] == java.util.concurrent.Executor.class) {
               values[i] = executor;
            } else if (types[i] == long.class) {
               values[i] = 3600_000L;
            } else if (types[i] == TimeUnit.class) {
               values[i] = TimeUnit.MILLISECONDS;
            } else if (types[i] == double.class) {
               values[i] = Double.parseDouble(limit);
            } else if (types[i] == Number.class) {
               values[i] = minimum ? (Number) Long.valueOf(limit) : (Number) Double.valueOf(limit);
            } else if (types[i] == IOCriticalErrorListener.class) {
               values[i] = listener;
            } else if (types[i].isEnum()) {
               values[i] = types[i].getField(minimum ? "MinDiskFree" : "MaxDiskUsage").get(null);
            } else {
               throw new IllegalStateException("argument " + types[i]);
            }
         }
         return (FileStoreMonitor) constructor.newInstance(values);
      }
      throw new IllegalStateException("no constructor");
   }

   static IOCriticalErrorListener listener() {
      InvocationHandler stop = (proxy, method, values) -> {
         if (method.getDeclaringClass() != Object.class) {
            System.out.println("critical " + values[0]);
         }
         return null;
      };
      return (IOCriticalErrorListener) Proxy.newProxyInstance(DiskJudge.class.getClassLoader(), new Class<?>[] {IOCriticalErrorListener.class}, stop);
   }

   /** A whole broker, because the limit is worked out by the server, not by the monitor. */
   static String limit(int percent, Long minimum) throws Exception {
      ConfigurationImpl configuration = new ConfigurationImpl();
      configuration.setPersistenceEnabled(false);
      configuration.setSecurityEnabled(false);
      configuration.setJMXManagementEnabled(false);
      configuration.setPagingDirectory(System.getProperty("java.io.tmpdir"));
      if (percent != Integer.MIN_VALUE) {
         configuration.setMaxDiskUsage(percent);
      }
      if (minimum != null) {
         Method setter = ConfigurationImpl.class.getMethod("setMinDiskFree", long.class);
         setter.invoke(configuration, minimum);
      }
      ActiveMQServerImpl server = new ActiveMQServerImpl(configuration);
      server.start();
      try {
         server.waitForActivation(20, TimeUnit.SECONDS);
         FileStoreMonitor monitor = server.getMonitor();
         if (monitor == null) {
            return "none";
         }
         try {
            return "minimum " + FileStoreMonitor.class.getMethod("getMinDiskFree").invoke(monitor);
         } catch (ReflectiveOperationException e) {
            return "usage " + monitor.getMaxUsage();
         }
      } finally {
         server.stop();
      }
   }

   /** A file system that gives the numbers of the question. */
   static final class Stub extends FileStore {
      final long usable;
      final long total;

      Stub(long usable, long total) {
         this.usable = usable;
         this.total = total;
      }

      @Override
      public String name() {
         return "stub";
      }

      @Override
      public String type() {
         return "stub";
      }

      @Override
      public boolean isReadOnly() {
         return false;
      }

      @Override
      public long getTotalSpace() {
         return total;
      }

      @Override
      public long getUsableSpace() throws IOException {
         if (usable == Long.MIN_VALUE) {
            throw new IOException("stub failure");
         }
         return usable;
      }

      @Override
      public long getUnallocatedSpace() {
         return usable;
      }

      @Override
      public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
         return false;
      }

      @Override
      public boolean supportsFileAttributeView(String name) {
         return false;
      }

      @Override
      public <V extends FileStoreAttributeView> V getFileStoreAttributeView(Class<V> type) {
         return null;
      }

      @Override
      public Object getAttribute(String attribute) {
         return null;
      }
   }
}
