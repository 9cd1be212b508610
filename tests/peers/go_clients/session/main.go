// A session of Iceberg's Go library in the Hive Metastore at a URI, below a folder: one line of output for each step.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hive"
	_ "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"
)

const writers, commits, attempts = 4, 3, 40

var (
	ctx     = context.Background()
	space   = hive.DatabaseIdentifier("go_db")
	nowhere = hive.DatabaseIdentifier("absent")
	sales   = hive.TableIdentifier("go_db", "sales")
	sold    = hive.TableIdentifier("go_db", "sold")
	types   = hive.TableIdentifier("go_db", "types")
	copied  = hive.TableIdentifier("go_db", "copied")
	seen    = hive.TableIdentifier("go_db", "seen")
)

func main() {
	uri, folder := os.Args[1], os.Args[2]
	cat := open(uri, folder)
	defer cat.Close()
	namespaces(cat, folder)
	create(cat, folder)
	write(cat)
	race(cat, func() *hive.Catalog { return open(uri, folder) })
	rename(cat)
	views(cat, folder)
	drop(cat)
}

func open(uri string, folder string) *hive.Catalog {
	properties := iceberg.Properties{hive.URI: uri, hive.Warehouse: folder}
	properties[hive.LockCheckMinWaitMs] = "20"
	properties[hive.LockCheckMaxWaitMs] = "200"
	properties[hive.LockCheckRetries] = "100"
	return must(hive.NewCatalog(properties))
}

func namespaces(cat *hive.Catalog, folder string) {
	given := iceberg.Properties{"comment": "of Go", "location": folder + "/odd place/go_db", "k": "v"}
	say("create namespace", "done", cat.CreateNamespace(ctx, space, given))
	say("create it again", "done", cat.CreateNamespace(ctx, space, nil))
	found, err := cat.LoadNamespaceProperties(ctx, space)
	say("its properties", found, err)
	changed, err := cat.UpdateNamespaceProperties(ctx, space, []string{"k", "absent"}, iceberg.Properties{"n": "1"})
	say("update them", changed, err)
	found, err = cat.LoadNamespaceProperties(ctx, space)
	say("its properties then", found, err)
	found, err = cat.LoadNamespaceProperties(ctx, nowhere)
	say("properties of none", found, err)
}

func create(cat *hive.Catalog, folder string) {
	schema := iceberg.NewSchemaWithIdentifiers(0, []int{1},
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true, Doc: "a key"},
		iceberg.NestedField{ID: 2, Name: "name", Type: iceberg.PrimitiveTypes.String})
	byName := iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Name: "name", Transform: iceberg.IdentityTransform{}}
	spec := iceberg.NewPartitionSpec(byName)
	made, err := cat.CreateTable(ctx, sales, schema, catalog.WithPartitionSpec(&spec))
	say("create table", made.Location(), err)
	_, err = cat.CreateTable(ctx, sales, schema)
	say("create it again", "done", err)
	_, err = cat.CreateTable(ctx, types, ofAllTypes(), catalog.WithLocation(folder+"/types of go"))
	say("create a table of all types", "done", err)
	names, err := tables(cat, space)
	say("tables", names, err)
	names, err = tables(cat, nowhere)
	say("tables of none", names, err)
}

func ofAllTypes() *iceberg.Schema {
	simple := iceberg.PrimitiveTypes
	list := &iceberg.ListType{ElementID: 20, Element: simple.String}
	byText := &iceberg.MapType{KeyID: 21, KeyType: simple.String, ValueID: 22, ValueType: simple.Int64}
	record := &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 23, Name: "Inner", Type: simple.String}}}
	fields := []iceberg.NestedField{}
	for i, each := range []iceberg.Type{simple.Int32, simple.Int64, simple.Bool, simple.Float32, simple.Float64, simple.Date,
		simple.Timestamp, simple.TimestampTz, simple.UUID, simple.Binary, simple.String, iceberg.DecimalTypeOf(38, 9),
		iceberg.FixedTypeOf(16), list, byText, record} {
		fields = append(fields, iceberg.NestedField{ID: i + 1, Name: fmt.Sprintf("c%d", i), Type: each})
	}
	return iceberg.NewSchema(0, fields...)
}

func write(cat *hive.Catalog) {
	written := must(cat.LoadTable(ctx, sales))
	for i := range 3 {
		written = must(written.AppendTable(ctx, rows(written.Schema(), i*10, 10), 100, nil))
	}
	say("rows", count(written), nil)
	change := written.NewTransaction()
	say("set a property", "done", change.SetProperties(iceberg.Properties{"p": "q"}))
	columns := change.UpdateSchema(true, false)
	columns.AddColumn([]string{"extra"}, iceberg.PrimitiveTypes.String, "new", false, nil)
	columns.RenameColumn([]string{"name"}, "label")
	say("change columns", "done", columns.Commit())
	written = must(change.Commit(ctx))
	found, err := cat.LoadTable(ctx, sales)
	say("load", found.Schema().String(), err)
	say("is it as committed", found.MetadataLocation() == written.MetadataLocation(), nil)
	written, err = written.Delete(ctx, iceberg.LessThan(iceberg.Reference("id"), int64(10)), nil)
	say("delete", count(written), err)
}

// Writers with connections of their own commit at once, and try again when another was first.
func race(cat *hive.Catalog, connect func() *hive.Catalog) {
	var wait sync.WaitGroup
	failures := make([]error, writers)
	for i := range writers {
		wait.Go(func() {
			own := connect()
			defer own.Close()
			for range commits {
				failures[i] = commit(own, fmt.Sprintf("writer-%d", i))
			}
		})
	}
	wait.Wait()
	say("race", "done", errors.Join(failures...))
	found := must(cat.LoadTable(ctx, sales))
	say("what the writers left", found.Properties(), nil)
	say("rows", count(found), nil)
}

func commit(cat *hive.Catalog, name string) (err error) {
	for range attempts {
		found := must(cat.LoadTable(ctx, sales))
		change := found.NewTransaction()
		if err = change.SetProperties(iceberg.Properties{name: "was here"}); err != nil {
			return err
		}
		if _, err = change.Commit(ctx); err == nil {
			return nil
		}
	}
	return err
}

func rename(cat *hive.Catalog) {
	_, err := cat.RenameTable(ctx, sales, sold)
	say("rename", "done", err)
	_, err = cat.RenameTable(ctx, sales, sold)
	say("rename none", "done", err)
	_, err = cat.RenameTable(ctx, types, sold)
	say("rename to one that exists", err != nil, nil)
	_, err = cat.LoadTable(ctx, sales)
	say("load the old name", "done", err)
	exists, err := cat.CheckTableExists(ctx, sold)
	say("does the new one exist", exists, err)
	_, err = cat.RegisterTable(ctx, copied, must(cat.LoadTable(ctx, sold)).MetadataLocation())
	say("register its metadata", "done", err)
	say("rows", count(must(cat.LoadTable(ctx, copied))), nil)
}

func views(cat *hive.Catalog, folder string) {
	version := must(view.NewVersionFromSQL(1, 0, "SELECT 1 AS col", space))
	_, err := cat.CreateView(ctx, seen, version, ofAllTypes(), catalog.WithViewLocation(folder+"/seen"))
	say("create view", "done", err)
	found, err := cat.LoadView(ctx, seen)
	say("its text", found.CurrentVersion().Representations[0].Sql, err)
	for each, err := range cat.ListViews(ctx, space) {
		say("a view", each, err)
	}
	names, err := tables(cat, space)
	say("tables", names, err)
}

func drop(cat *hive.Catalog) {
	say("drop namespace", "done", cat.DropNamespace(ctx, space))
	say("drop view", "done", cat.DropView(ctx, seen))
	say("drop a table as a view", "done", cat.DropView(ctx, sold))
	for _, each := range []table.Identifier{sold, copied, types, sales} {
		say("drop "+strings.Join(each, "."), "done", cat.DropTable(ctx, each))
	}
	say("drop namespace", "done", cat.DropNamespace(ctx, space))
	found, err := cat.ListNamespaces(ctx, nil)
	say("namespaces", found, err)
}

func tables(cat *hive.Catalog, of table.Identifier) ([]string, error) {
	found := []string{}
	for each, err := range cat.ListTables(ctx, of) {
		if err != nil {
			return nil, err
		}
		found = append(found, strings.Join(each, "."))
	}
	sort.Strings(found)
	return found, nil
}

func rows(schema *iceberg.Schema, first int, many int) arrow.Table {
	made := must(table.SchemaToArrowSchema(schema, nil, true, false))
	builder := array.NewRecordBuilder(memory.DefaultAllocator, made)
	for i := first; i < first+many; i++ {
		builder.Field(0).(*array.Int64Builder).Append(int64(i))
		builder.Field(1).(*array.StringBuilder).Append([]string{"a b", "c/d=e", "é"}[i%3])
	}
	return array.NewTableFromRecords(made, []arrow.RecordBatch{builder.NewRecordBatch()})
}

func count(of *table.Table) int64 {
	return must(of.Scan().ToArrowTable(ctx)).NumRows()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func say(step string, found any, err error) {
	if err != nil {
		found = "error: " + kind(err)
	}
	fmt.Printf("%s: %s\n", step, must(json.Marshal(found)))
}

func kind(err error) string {
	for _, each := range []error{catalog.ErrNoSuchTable, catalog.ErrNoSuchNamespace, catalog.ErrNamespaceAlreadyExists,
		catalog.ErrTableAlreadyExists, catalog.ErrNamespaceNotEmpty, catalog.ErrNoSuchView, catalog.ErrViewAlreadyExists} {
		if errors.Is(err, each) {
			return each.Error()
		}
	}
	return err.Error()
}
