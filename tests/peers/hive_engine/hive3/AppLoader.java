import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/** The system's class loader as Hive 3 expects it: a URLClassLoader, which Java has not had since 9. */
public final class AppLoader extends URLClassLoader {
    public AppLoader(ClassLoader parent) throws MalformedURLException {
        super(classPath(), parent.getParent());
    }

    private static URL[] classPath() throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String each : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(new File(each).toURI().toURL());
        }
        return urls.toArray(new URL[0]);
    }
}
