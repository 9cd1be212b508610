import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UnsupportedEncodingException;
import org.apache.hadoop.hive.ql.processors.CommandProcessor;
import org.apache.hadoop.hive.ql.processors.CommandProcessorResponse;

/** What is Hive 3's own: a session writes to plain streams, and a failure is a response with a code. */
final class Release {
    private static final class Refused extends Exception {
        Refused(String reason) {
            super(reason);
        }
    }

    private Release() {}

    static PrintStream nowhere() throws UnsupportedEncodingException {
        return new PrintStream(OutputStream.nullOutputStream(), true, "UTF-8");
    }

    static void run(CommandProcessor processor, String command) throws Exception {
        CommandProcessorResponse response = processor.run(command);
        if (response.getResponseCode() != 0) throw new Refused(response.getErrorMessage());
    }

    static String reason(Throwable failure) {
        return failure instanceof Refused ? failure.getMessage() : failure.getClass().getName() + ": " + failure.getMessage();
    }
}
