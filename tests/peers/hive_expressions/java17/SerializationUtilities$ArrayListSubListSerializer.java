package org.apache.hadoop.hive.ql.exec;

import java.util.List;
import org.apache.hive.com.esotericsoftware.kryo.Kryo;
import org.apache.hive.com.esotericsoftware.kryo.Serializer;
import org.apache.hive.com.esotericsoftware.kryo.io.Input;
import org.apache.hive.com.esotericsoftware.kryo.io.Output;

/** Stands before Hive 3.1.3's own class, which looks for a field that Java's lists have no more. No condition has a part of a list. */
class SerializationUtilities$ArrayListSubListSerializer extends Serializer<List<?>> {
    public SerializationUtilities$ArrayListSubListSerializer() {}

    @Override
    public List<?> read(Kryo kryo, Input input, Class<List<?>> type) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void write(Kryo kryo, Output output, List<?> list) {
        throw new UnsupportedOperationException();
    }
}
