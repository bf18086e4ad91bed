import java.io.PrintStream;
import java.beans.PropertyDescriptor;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.config.HAPolicyConfiguration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.config.impl.FileConfiguration;
import org.apache.activemq.artemis.core.config.storage.DatabaseStorageConfiguration;
import org.apache.activemq.artemis.utils.uri.BeanSupport;
import org.apache.commons.beanutils.BeanUtilsBean;
import org.apache.commons.beanutils.ConvertUtilsBean;
import org.apache.commons.beanutils.Converter;
import org.apache.commons.beanutils.PropertyUtilsBean;

/**
 * The beans that broker.properties can reach, by the broker's own introspection. A line for each property:
 * class;property;type;made;access where "made" is the class of the entries that the broker makes in a collection (- where there is no
 * collection before one is given whole), or of the bean that is there or is made where a key goes on, and "access" is w, r or both. A line with =VALUE as its property
 * says which class that value of the type makes, one with * what the entries of a bean are that is a collection itself.
 * Last stands what is odd about a setter: !VALUE for a value of that type that it refuses, ~VALUE for one that it leaves out
 * without a word, !* where it refuses all.
 */
public final class BeanModel {

   private static final Map<String, Object> BEANS = new TreeMap<>();
   private static final ArrayDeque<Object> LEFT = new ArrayDeque<>();
   private static PropertyUtilsBean access;
   private static Method makeEntry;
   private static Method parse;

   public static void main(String[] args) throws Exception {
      PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
      Class<?> filling = Class.forName(ConfigurationImpl.class.getName() + "$CollectionAutoFillPropertiesUtil");
      Constructor<?> constructor = filling.getDeclaredConstructors()[0];
      constructor.setAccessible(true);
      access = (PropertyUtilsBean) (constructor.getParameterCount() == 0 ? constructor.newInstance() : constructor.newInstance("-"));
      ConvertUtilsBean conversions = new ConvertUtilsBean();
      conversions.register(new Converter() {
         @Override
         @SuppressWarnings("unchecked")
         public <T> T convert(Class<T> type, Object value) {
            return (T) SimpleString.toSimpleString(String.valueOf(value));
         }
      }, SimpleString.class);
      BeanUtilsBean beans = new BeanUtilsBean(conversions, access);
      BeanSupport.customise(beans);
      Method use = filling.getDeclaredMethod("setBeanUtilsBean", BeanUtilsBean.class);
      use.setAccessible(true);
      use.invoke(access, beans);
      try {
         parse = ConfigurationImpl.class.getMethod("parsePrefixedProperties", Object.class, String.class, java.util.Properties.class, String.class);
      } catch (NoSuchMethodException before) {
         parse = null;
      }
      makeEntry = filling.getDeclaredMethod("newNamedInstanceForCollection", String.class, Object.class, String.class);
      makeEntry.setAccessible(true);

      meet(new FileConfiguration());
      meet(new DatabaseStorageConfiguration());
      for (HAPolicyConfiguration.TYPE type : HAPolicyConfiguration.TYPE.values()) {
         ConfigurationImpl host = new ConfigurationImpl();
         ConfigurationImpl.InsertionOrderedProperties given = new ConfigurationImpl.InsertionOrderedProperties();
         given.put("HAPolicyConfiguration", String.valueOf(type));
         host.parsePrefixedProperties(given, null);
         Object policy = host.getHAPolicyConfiguration();
         if (policy != null) {
            out.println("HAPolicyConfiguration;=" + type + ";;" + name(policy.getClass()) + ";;");
            meet(policy);
         }
      }
      out.println("StoreConfiguration;=DATABASE;;DatabaseStorageConfiguration;;");
      while (!LEFT.isEmpty()) {
         for (String line : lines(LEFT.pop())) {
            out.println(line);
         }
      }
      out.flush();
      Runtime.getRuntime().halt(0);
   }

   private static void meet(Object bean) {
      if (bean != null && bean.getClass().getName().startsWith("org.apache.activemq.artemis.")
         && !(bean instanceof Enum) && !(bean instanceof SimpleString) && BEANS.put(bean.getClass().getName(), bean) == null) {
         LEFT.add(bean);
      }
   }

   private static List<String> lines(Object bean) {
      List<String> found = new ArrayList<>();
      if (bean instanceof Collection || bean instanceof Map) {
         found.add(String.join(";", name(bean.getClass()), "*", "", met(entry(null, bean)), "", ""));
      }
      Map<String, PropertyDescriptor> byName = new TreeMap<>();
      for (PropertyDescriptor one : access.getPropertyDescriptors(bean)) {
         byName.put(one.getName(), one);
      }
      for (PropertyDescriptor one : byName.values()) {
         Method write = access.getWriteMethod(one), read = access.getReadMethod(one);
         Object first = null;
         boolean readable = read != null;
         try {
            first = read == null ? null : read.invoke(bean);
         } catch (ReflectiveOperationException failing) {
            readable = false;
         }
         Class<?> taken = write == null ? null : write.getParameterTypes()[0];
         Class<?> given = readable ? read.getReturnType() : null;
         String made = "";
         if (given != null && (Collection.class.isAssignableFrom(given) || Map.class.isAssignableFrom(given))) {
            made = first == null ? "-" : met(entry(one.getName(), bean));
         } else if (first != null) {
            made = met(first);
         } else if (given != null && write != null) {
            made = met(made(taken));
         }
         found.add(String.join(";", name(bean.getClass()), one.getName(), type(taken == null ? given : taken), made,
            (given == null ? "" : "r") + (taken == null ? "" : "w"), odd(bean, one.getName(), taken, read)));
      }
      return found;
   }

   private static String odd(Object bean, String property, Class<?> taken, Method read) {
      if (taken == null || parse == null) {
         return "";
      }
      List<String> found = new ArrayList<>();
      String[] probes = probes(taken);
      for (String probe : probes) {
         Object fresh = made(bean.getClass());
         Object host = fresh == null ? bean : fresh;
         set(host, property, probe.equals("7") ? "8" : probe.equals("true") ? "false" : probe.equals("false") ? "true" : "7");
         Object before = value(host, read);
         if (!set(host, property, probe)) {
            found.add("!" + probe);
         } else if (taken.isPrimitive() && read != null && String.valueOf(before).equals(String.valueOf(value(host, read)))) {
            found.add("~" + probe);
         }
      }
      return probes.length > 0 && found.size() == probes.length && found.get(0).startsWith("!") ? "!*" : String.join(" ", found);
   }

   private static String[] probes(Class<?> taken) {
      if (taken == int.class || taken == Integer.class || taken == long.class || taken == Long.class || taken == double.class) {
         return new String[] {"7", "0", "-1", "-2", "101", "2147483647"};
      }
      if (taken == boolean.class) {
         return new String[] {"true", "false"};
      }
      if (taken.isEnum()) {
         String[] names = new String[taken.getEnumConstants().length];
         for (int i = 0; i < names.length; i++) {
            names[i] = ((Enum<?>) taken.getEnumConstants()[i]).name();
         }
         return names;
      }
      if (Map.class.isAssignableFrom(taken)) {
         return new String[] {"a=b"};
      }
      boolean text = taken == String.class || taken == SimpleString.class || Collection.class.isAssignableFrom(taken);
      return text ? new String[] {"a", "", "a,b", "tcp://localhost:61616"} : new String[0];
   }

   private static Object value(Object bean, Method read) {
      try {
         return read == null ? null : read.invoke(bean);
      } catch (ReflectiveOperationException failing) {
         return null;
      }
   }

   /** Whether the broker's status has no error of it. */
   private static boolean set(Object bean, String key, String value) {
      ConfigurationImpl.InsertionOrderedProperties given = new ConfigurationImpl.InsertionOrderedProperties();
      given.put(key, value);
      ConfigurationImpl host = new ConfigurationImpl();
      try {
         parse.invoke(host, bean, "probe", given, null);
      } catch (ReflectiveOperationException thrown) {
         return false;
      }
      return !host.getStatus().contains("reason");
   }

   private static String met(Object bean) {
      meet(bean);
      return bean == null ? "" : BEANS.containsKey(bean.getClass().getName()) ? name(bean.getClass()) : "";
   }

   private static Object entry(String property, Object bean) {
      try {
         return makeEntry.invoke(access, property, bean, "x");
      } catch (InvocationTargetException | IllegalAccessException none) {
         return null;
      }
   }

   private static Object made(Class<?> type) {
      try {
         return type.isInterface() || Modifier.isAbstract(type.getModifiers()) ? null : type.getDeclaredConstructor().newInstance();
      } catch (ReflectiveOperationException none) {
         return null;
      }
   }

   private static String type(Class<?> type) {
      if (type == null) {
         return "";
      }
      if (type.isEnum()) {
         List<String> names = new ArrayList<>();
         for (Object one : type.getEnumConstants()) {
            names.add(((Enum<?>) one).name());
         }
         return String.join("|", names);
      }
      return type.getPackageName().startsWith("org.apache.") ? name(type) : type.getSimpleName();
   }

   private static String name(Class<?> type) {
      return type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
   }
}
