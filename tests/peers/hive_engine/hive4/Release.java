import java.io.OutputStream;
import java.io.UnsupportedEncodingException;
import org.apache.hadoop.hive.common.io.SessionStream;
import org.apache.hadoop.hive.ql.processors.CommandProcessor;
import org.apache.hadoop.hive.ql.processors.CommandProcessorException;

/** What is Hive 4's own: a session writes to streams of its own class, and a failure is an exception. */
final class Release {
    private Release() {}

    static SessionStream nowhere() throws UnsupportedEncodingException {
        return new SessionStream(OutputStream.nullOutputStream(), true, "UTF-8");
    }

    static void run(CommandProcessor processor, String command) throws CommandProcessorException {
        processor.run(command);
    }

    static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CommandProcessorException && cause.getMessage() == null && cause.getCause() != null) cause = cause.getCause();
        return cause instanceof CommandProcessorException ? cause.getMessage() : cause.getClass().getName() + ": " + cause.getMessage();
    }
}
