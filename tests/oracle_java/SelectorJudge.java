import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.filter.Filter;
import org.apache.activemq.artemis.core.filter.impl.FilterImpl;
import org.apache.activemq.artemis.core.message.impl.CoreMessage;
import org.apache.activemq.artemis.utils.UUID;

/**
 * Asks the broker's own filter. One question a line: the selector as hex of UTF-16, a blank, then properties, each
 * name:type:value with name and text values as hex of UTF-16. One answer a line: invalid, true or false.
 */
public final class SelectorJudge {

   public static void main(String[] args) throws Exception {
      java.util.logging.LogManager.getLogManager().reset();
      PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
         String[] parts = line.split(" ");
         out.println(answer(text(parts[0]), parts));
      }
      out.flush();
      Runtime.getRuntime().halt(0);
   }

   private static String answer(String selector, String[] parts) {
      Filter filter;
      try {
         filter = FilterImpl.createFilter(selector);
      } catch (org.apache.activemq.artemis.api.core.ActiveMQException refused) {
         return "invalid";
      }
      return Boolean.toString(filter.match(message(parts)));
   }

   private static CoreMessage message(String[] parts) {
      CoreMessage m = new CoreMessage(1001, 512);
      m.setAddress("orders");
      m.setDurable(true);
      m.setPriority((byte) 7);
      m.setTimestamp(1700000000000L);
      m.setExpiration(1800000000000L);
      m.setUserID(new UUID(UUID.TYPE_TIME_BASED, HexFormat.of().parseHex("0011223344551677a899aabbccddeeff")));
      for (int i = 1; i < parts.length; i++) {
         String[] f = parts[i].split(":", 3);
         put(m, new SimpleString(text(f[0]).getBytes(StandardCharsets.UTF_16LE)), f[1], f[2]);
      }
      return m;
   }

   private static void put(CoreMessage m, SimpleString name, String type, String v) {
      switch (type) {
         case "boolean" -> m.putBooleanProperty(name, Boolean.parseBoolean(v));
         case "byte" -> m.putByteProperty(name, Byte.parseByte(v));
         case "short" -> m.putShortProperty(name, Short.parseShort(v));
         case "int" -> m.putIntProperty(name, Integer.parseInt(v));
         case "long" -> m.putLongProperty(name, Long.parseLong(v));
         case "float" -> m.putFloatProperty(name, Float.intBitsToFloat(Integer.parseUnsignedInt(v, 16)));
         case "double" -> m.putDoubleProperty(name, Double.longBitsToDouble(Long.parseUnsignedLong(v, 16)));
         case "char" -> m.putCharProperty(name, (char) Integer.parseInt(v));
         case "string" -> m.putStringProperty(name, new SimpleString(text(v).getBytes(StandardCharsets.UTF_16LE)));
         case "bytes" -> m.putBytesProperty(name, HexFormat.of().parseHex(v));
         default -> throw new IllegalArgumentException(type);
      }
   }

   private static String text(String hex) {
      return new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_16BE);
   }
}
