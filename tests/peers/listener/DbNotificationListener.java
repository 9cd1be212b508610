package org.apache.hive.hcatalog.listener;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HMSHandler;
import org.apache.hadoop.hive.metastore.TransactionalMetaStoreEventListener;
import org.apache.hadoop.hive.metastore.api.ColumnStatisticsDesc;
import org.apache.hadoop.hive.metastore.api.Database;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.NotificationEvent;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.metastore.events.AddPartitionEvent;
import org.apache.hadoop.hive.metastore.events.AlterDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.AlterPartitionEvent;
import org.apache.hadoop.hive.metastore.events.AlterTableEvent;
import org.apache.hadoop.hive.metastore.events.CreateDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.CreateTableEvent;
import org.apache.hadoop.hive.metastore.events.DeletePartitionColumnStatEvent;
import org.apache.hadoop.hive.metastore.events.DeleteTableColumnStatEvent;
import org.apache.hadoop.hive.metastore.events.DropDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.DropPartitionEvent;
import org.apache.hadoop.hive.metastore.events.DropTableEvent;
import org.apache.hadoop.hive.metastore.events.InsertEvent;
import org.apache.hadoop.hive.metastore.events.UpdatePartitionColumnStatEvent;
import org.apache.hadoop.hive.metastore.events.UpdatePartitionColumnStatEventBatch;
import org.apache.hadoop.hive.metastore.events.UpdateTableColumnStatEvent;
import org.apache.hadoop.hive.metastore.tools.SQLGenerator;

/**
 * Stands for Hive 4.0.1's listener of this name, which is in no package of Maven's. Like it, this one logs the events
 * that it is told of in the transaction in which it is told; when that happens, and whether at all, is the server's
 * doing. Messages are left empty.
 */
public class DbNotificationListener extends TransactionalMetaStoreEventListener {
  private static final String NUMBERS = "SELECT \"NEXT_EVENT_ID\" FROM \"NOTIFICATION_SEQUENCE\" FOR UPDATE";
  private static final String KEYS = "SELECT \"NEXT_VAL\" FROM \"SEQUENCE_TABLE\" WHERE \"SEQUENCE_NAME\" = "
      + "'org.apache.hadoop.hive.metastore.model.MNotificationLog' FOR UPDATE";
  private static final String LOGGED = "INSERT INTO \"NOTIFICATION_LOG\" (\"NL_ID\", \"EVENT_ID\", \"EVENT_TIME\", "
      + "\"EVENT_TYPE\", \"MESSAGE\", \"MESSAGE_FORMAT\", \"DB_NAME\", \"TBL_NAME\", \"CAT_NAME\") "
      + "VALUES (?, ?, ?, ?, '{}', 'json-0.2', ?, ?, ?)";

  private final Configuration conf;

  public DbNotificationListener(Configuration conf) {
    super(conf);
    this.conf = conf;
  }

  @Override
  public void onCreateDatabase(CreateDatabaseEvent event) throws MetaException {
    log("CREATE_DATABASE", event.getDatabase());
  }

  @Override
  public void onDropDatabase(DropDatabaseEvent event) throws MetaException {
    log("DROP_DATABASE", event.getDatabase());
  }

  @Override
  public void onAlterDatabase(AlterDatabaseEvent event) throws MetaException {
    log("ALTER_DATABASE", event.getOldDatabase());
  }

  @Override
  public void onCreateTable(CreateTableEvent event) throws MetaException {
    log("CREATE_TABLE", event.getTable());
  }

  @Override
  public void onDropTable(DropTableEvent event) throws MetaException {
    log("DROP_TABLE", event.getTable());
  }

  @Override
  public void onAlterTable(AlterTableEvent event) throws MetaException {
    log("ALTER_TABLE", event.getNewTable());
  }

  @Override
  public void onAddPartition(AddPartitionEvent event) throws MetaException {
    log("ADD_PARTITION", event.getTable());
  }

  @Override
  public void onDropPartition(DropPartitionEvent event) throws MetaException {
    log("DROP_PARTITION", event.getTable());
  }

  @Override
  public void onAlterPartition(AlterPartitionEvent event) throws MetaException {
    log("ALTER_PARTITION", event.getTable());
  }

  @Override
  public void onInsert(InsertEvent event) throws MetaException {
    log("INSERT", event.getTableObj());
  }

  @Override
  public void onUpdateTableColumnStat(UpdateTableColumnStatEvent event) throws MetaException {
    log("UPDATE_TBL_COL_STAT_EVENT", event.getColStats().getStatsDesc());
  }

  @Override
  public void onUpdatePartitionColumnStat(UpdatePartitionColumnStatEvent event) throws MetaException {
    log("UPDATE_PART_COL_STAT_EVENT", event.getPartColStats().getStatsDesc());
  }

  @Override
  public void onDeleteTableColumnStat(DeleteTableColumnStatEvent event) throws MetaException {
    log("DELETE_TBL_COL_STAT_EVENT", event.getCatName(), event.getDBName(), event.getTableName());
  }

  @Override
  public void onDeletePartitionColumnStat(DeletePartitionColumnStatEvent event) throws MetaException {
    log("DELETE_PART_COL_STAT_EVENT", event.getCatName(), event.getDBName(), event.getTableName());
  }

  @Override
  public void onUpdatePartitionColumnStatInBatch(
      UpdatePartitionColumnStatEventBatch batch, Connection connection, SQLGenerator generator) throws MetaException {
    int number = batch.getNumEntries();
    try (Statement statement = connection.createStatement();
        PreparedStatement logged = connection.prepareStatement(LOGGED)) {
      long event = take(statement, NUMBERS, "UPDATE \"NOTIFICATION_SEQUENCE\" SET \"NEXT_EVENT_ID\" = ", "", number);
      long key = take(statement, KEYS, "UPDATE \"SEQUENCE_TABLE\" SET \"NEXT_VAL\" = ",
          " WHERE \"SEQUENCE_NAME\" = 'org.apache.hadoop.hive.metastore.model.MNotificationLog'", number);
      for (int each = 0; each < number; each++) {
        ColumnStatisticsDesc of = batch.getPartColStatEvent(each).getPartColStats().getStatsDesc();
        logged.setLong(1, key + each);
        logged.setLong(2, event + each);
        logged.setInt(3, now());
        logged.setString(4, "UPDATE_PART_COL_STAT_EVENT");
        logged.setString(5, of.getDbName());
        logged.setString(6, of.getTableName());
        logged.setString(7, of.isSetCatName() ? of.getCatName() : "hive");
        logged.addBatch();
      }
      logged.executeBatch();
    } catch (SQLException error) {
      throw new MetaException(error.toString());
    }
  }

  @Override
  public boolean doesAddEventsToNotificationLogTable() {
    return true;
  }

  private static long take(Statement statement, String read, String change, String where, int number)
      throws SQLException {
    long first;
    try (ResultSet found = statement.executeQuery(read)) {
      found.next();
      first = found.getLong(1);
    }
    statement.executeUpdate(change + (first + number) + where);
    return first;
  }

  private void log(String type, Database database) throws MetaException {
    log(type, database.getCatalogName(), database.getName(), null);
  }

  private void log(String type, Table table) throws MetaException {
    log(type, table.isSetCatName() ? table.getCatName() : "hive", table.getDbName(), table.getTableName());
  }

  private void log(String type, ColumnStatisticsDesc of) throws MetaException {
    log(type, of.isSetCatName() ? of.getCatName() : "hive", of.getDbName(), of.getTableName());
  }

  private void log(String type, String catalog, String database, String table) throws MetaException {
    NotificationEvent event = new NotificationEvent(0, now(), type, "{}");
    event.setMessageFormat("json-0.2");
    event.setCatName(catalog);
    event.setDbName(database);
    event.setTableName(table);
    HMSHandler.getMSForConf(conf).addNotificationEvent(event);
  }

  private static int now() {
    return (int) (System.currentTimeMillis() / 1000);
  }
}
