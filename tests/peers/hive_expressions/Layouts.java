import java.io.BufferedReader;
import java.io.PrintStream;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hive.com.esotericsoftware.kryo.Kryo;
import org.apache.hive.com.esotericsoftware.kryo.Registration;
import org.apache.hive.com.esotericsoftware.kryo.Serializer;
import org.apache.hive.com.esotericsoftware.kryo.serializers.FieldSerializer;

/** How Hive's Kryo lays out classes: its registered ids, and of each class that is asked for its serializer and its fields in order. */
final class Layouts {
    static void print(BufferedReader in, PrintStream out) throws Exception {
        Kryo kryo = SerializationUtilities.borrowKryo();
        for (int id = 0; id < 40; id++) {
            Registration known = kryo.getRegistration(id);
            if (known != null) out.println("id " + id + " " + known.getType().getName() + " " + known.getSerializer().getClass().getSimpleName());
        }
        for (String name = in.readLine(); name != null; name = in.readLine()) {
            Class<?> type;
            try {
                type = Class.forName(name.trim());
            } catch (ClassNotFoundException | NoClassDefFoundError missing) {
                continue;
            }
            try {
                Serializer<?> serializer = kryo.getSerializer(type);
                out.print("class " + type.getName() + " " + serializer.getClass().getSimpleName());
                if (serializer instanceof FieldSerializer) {
                    for (FieldSerializer.CachedField field : ((FieldSerializer<?>) serializer).getFields()) {
                        Class<?> declared = field.getField().getType();
                        String exact = kryo.isFinal(declared) ? "final" : "open";
                        out.print(" " + field.getField().getName() + ":" + declared.getName() + ":" + exact + ":" + field.getClass().getSimpleName());
                    }
                }
                out.println();
            } catch (Throwable failure) {
                out.println(" FAILED " + failure);
            }
        }
    }
}
