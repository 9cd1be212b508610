// Statistics of every kind, written and read in the Hive Metastore at a URI by the client that gohive generates.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/beltran/gohive"
	hms "github.com/beltran/gohive/hive_metastore"
)

const database, engine = "go_stats", "hive"

var (
	ctx    = context.Background()
	values = []string{"a b", "c/d=e", "é", "01"}
)

func main() {
	client := open(os.Args[1])
	create(client, os.Args[2])
	ofTable(client)
	ofPartitions(client)
	say("drop", "done", client.DropDatabase(ctx, database, true, true))
}

func open(uri string) *hms.ThriftHiveMetastoreClient {
	place := must(url.Parse(uri))
	port := must(strconv.Atoi(place.Port()))
	return must(gohive.ConnectToMetastore(place.Hostname(), port, "NOSASL", gohive.NewMetastoreConnectConfiguration())).Client
}

func create(client *hms.ThriftHiveMetastoreClient, folder string) {
	say("create database", "done", client.CreateDatabase(ctx, &hms.Database{Name: database, LocationUri: folder + "/go_stats"}))
	keys := map[string][]*hms.FieldSchema{"plain": {}, "parted": {{Name: "k", Type: "string"}, {Name: "n", Type: "int"}}}
	for _, name := range []string{"plain", "parted"} {
		made := &hms.Table{TableName: name, DbName: database, CatName: at("hive"), Owner: "go", OwnerType: hms.PrincipalType_USER,
			Sd: storage(folder + "/" + name), PartitionKeys: keys[name], Parameters: map[string]string{"EXTERNAL": "TRUE"}, TableType: "EXTERNAL_TABLE"}
		say("create "+name, "done", client.CreateTableReq(ctx, &hms.CreateTableRequest{Table: made}))
	}
	parts := []*hms.Partition{}
	for i, value := range values {
		parts = append(parts, &hms.Partition{Values: []string{value, strconv.Itoa(i)}, DbName: database, TableName: "parted",
			CatName: at("hive"), Sd: storage(fmt.Sprintf("%s/part-%d", folder, i)), Parameters: map[string]string{}})
	}
	request := &hms.AddPartitionsRequest{DbName: database, TblName: "parted", Parts: parts, IfNotExists: true, NeedResult_: true, CatName: at("hive")}
	added, err := client.AddPartitionsReq(ctx, request)
	say("add partitions", len(added.GetPartitions()), err)
}

func storage(location string) *hms.StorageDescriptor {
	columns := []*hms.FieldSchema{}
	for _, each := range statistics(0) {
		columns = append(columns, &hms.FieldSchema{Name: each.ColName, Type: each.ColType})
	}
	return &hms.StorageDescriptor{Cols: columns, Location: location, InputFormat: "org.apache.hadoop.mapred.TextInputFormat",
		OutputFormat: "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat", BucketCols: []string{}, SortCols: []*hms.Order{},
		SerdeInfo: &hms.SerDeInfo{SerializationLib: "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", Parameters: map[string]string{}}, Parameters: map[string]string{}}
}

func statistics(low int64) []*hms.ColumnStatisticsObj {
	found := []*hms.ColumnStatisticsObj{}
	add := func(name string, kind string, data *hms.ColumnStatisticsData) {
		found = append(found, &hms.ColumnStatisticsObj{ColName: name, ColType: kind, StatsData: data})
	}
	add("b", "boolean", &hms.ColumnStatisticsData{BooleanStats: &hms.BooleanColumnStatsData{NumTrues: 11, NumFalses: 12, NumNulls: 13}})
	add("bin", "binary", &hms.ColumnStatisticsData{BinaryStats: &hms.BinaryColumnStatsData{MaxColLen: 5, AvgColLen: 2.5, NumNulls: 6}})
	add("d", "double", &hms.ColumnStatisticsData{DoubleStats: &hms.DoubleColumnStatsData{
		LowValue: at(-0.5), HighValue: at(1e300), NumNulls: 3, NumDVs: 8}})
	add("day", "date", &hms.ColumnStatisticsData{DateStats: &hms.DateColumnStatsData{
		LowValue: &hms.Date{DaysSinceEpoch: -3}, HighValue: &hms.Date{DaysSinceEpoch: 20000 + low}, NumNulls: 5, NumDVs: 10}})
	add("dec", "decimal(10,2)", &hms.ColumnStatisticsData{DecimalStats: &hms.DecimalColumnStatsData{
		LowValue: &hms.Decimal{Unscaled: []byte{0xff, 0x38}, Scale: 2}, HighValue: &hms.Decimal{Unscaled: []byte{0x7b}, Scale: 1}, NumNulls: 4, NumDVs: 9}})
	add("i", "bigint", &hms.ColumnStatisticsData{LongStats: &hms.LongColumnStatsData{
		LowValue: at(low), HighValue: at(low + 100), NumNulls: 1, NumDVs: 50}})
	add("s", "string", &hms.ColumnStatisticsData{StringStats: &hms.StringColumnStatsData{MaxColLen: 10 + low, AvgColLen: 3.25, NumNulls: 2, NumDVs: 7}})
	add("t", "timestamp", &hms.ColumnStatisticsData{TimestampStats: &hms.TimestampColumnStatsData{
		LowValue: &hms.Timestamp{SecondsSinceEpoch: -1}, HighValue: &hms.Timestamp{SecondsSinceEpoch: 1700000000 + low}, NumNulls: 7, NumDVs: 11}})
	return found
}

func ofTable(client *hms.ThriftHiveMetastoreClient) {
	described := &hms.ColumnStatisticsDesc{IsTblLevel: true, DbName: database, TableName: "plain", CatName: at("hive")}
	given := &hms.ColumnStatistics{StatsDesc: described, StatsObj: statistics(5), Engine: at(engine)}
	written, err := client.UpdateTableColumnStatisticsReq(ctx, &hms.SetPartitionsStatsRequest{ColStats: []*hms.ColumnStatistics{given}, WriteId: -1, Engine: engine})
	say("write the table's", written, err)
	request := &hms.TableStatsRequest{DbName: database, TblName: "plain", ColNames: columns(), CatName: at("hive"), Engine: engine, ID: -1}
	read, err := client.GetTableStatisticsReq(ctx, request)
	say("read the table's", sorted(read.GetTableStats()), err)
	whole, err := client.GetTableReq(ctx, &hms.GetTableRequest{DbName: database, TblName: "plain", CatName: at("hive"), GetColumnStats: at(true), Engine: at(engine)})
	say("read them with the table", sorted(whole.GetTable().GetColStats().GetStatsObj()), err)
	say("its accuracy", whole.GetTable().GetParameters()["COLUMN_STATS_ACCURATE"], err)
	gone, err := client.DeleteTableColumnStatistics(ctx, database, "plain", "i", engine)
	say("delete one column's", gone, err)
	read, err = client.GetTableStatisticsReq(ctx, request)
	say("columns left", len(read.GetTableStats()), err)
	_, err = client.GetTableStatisticsReq(ctx, &hms.TableStatsRequest{DbName: database, TblName: "absent", ColNames: columns(), Engine: engine})
	say("read an absent table's", "done", err)
}

func ofPartitions(client *hms.ThriftHiveMetastoreClient) {
	names, err := client.GetPartitionNames(ctx, database, "parted", -1)
	say("names", names, err)
	given := []*hms.ColumnStatistics{}
	for i, name := range names {
		described := &hms.ColumnStatisticsDesc{DbName: database, TableName: "parted", PartName: at(name), CatName: at("hive")}
		given = append(given, &hms.ColumnStatistics{StatsDesc: described, StatsObj: statistics(int64(i * 1000)), Engine: at(engine)})
	}
	written, err := client.SetAggrStatsFor(ctx, &hms.SetPartitionsStatsRequest{ColStats: given, WriteId: -1, Engine: engine})
	say("write the partitions'", written, err)
	request := &hms.PartitionsStatsRequest{DbName: database, TblName: "parted", ColNames: columns(), PartNames: names, CatName: at("hive"), Engine: engine}
	sum, err := client.GetAggrStatsFor(ctx, request)
	sorted(sum.GetColStats())
	say("their aggregate", sum, err)
	request.PartNames = append([]string{"k=absent/n=9"}, names...)
	read, err := client.GetPartitionsStatisticsReq(ctx, request)
	for _, each := range read.GetPartStats() {
		sorted(each)
	}
	say("read the partitions'", read, err)
	found, err := client.GetPartitionsByNamesReq(ctx, &hms.GetPartitionsByNamesRequest{DbName: database, TblName: "parted", Names: names, GetColStats: at(true), Engine: at(engine)})
	say("read partitions", len(found.GetPartitions()), err)
	for _, each := range found.GetPartitions() {
		say("with statistics of columns", len(each.GetColStats().GetStatsObj()), nil)
	}
	filtered, err := client.GetPartitionsByFilter(ctx, database, "parted", `k = "a b" or n > 1`, -1)
	say("partitions of a filter", len(filtered), err)
	first, err := client.GetPartitionNamesPs(ctx, database, "parted", []string{"c/d=e"}, -1)
	say("names by their first value", first, err)
}

func columns() []string {
	names := []string{}
	for _, each := range statistics(0) {
		names = append(names, each.ColName)
	}
	return names
}

func sorted(objects []*hms.ColumnStatisticsObj) []*hms.ColumnStatisticsObj {
	slices.SortFunc(objects, func(a, b *hms.ColumnStatisticsObj) int { return strings.Compare(a.ColName, b.ColName) })
	return objects
}

func at[T any](value T) *T {
	return &value
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func say(step string, found any, err error) {
	if err != nil {
		found = fmt.Sprintf("error: %T", err)
	}
	fmt.Printf("%s: %s\n", step, must(json.Marshal(found)))
}
