//! Namespaces and tables through Iceberg's catalog.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use iceberg::io::LocalFsStorageFactory;
use iceberg::spec::{ListType, NestedField, PrimitiveType, Schema, StructType, Type};
use iceberg::{Catalog, CatalogBuilder, Namespace, NamespaceIdent, TableCreation, TableIdent};
use iceberg_catalog_hms::{HmsCatalog, HmsCatalogBuilder};

use crate::say;

pub async fn session(address: &str, folder: &str, transport: &str) {
    let given = properties(&[("uri", address), ("warehouse", folder), ("thrift_transport", transport)]);
    let builder = HmsCatalogBuilder::default().with_storage_factory(Arc::new(LocalFsStorageFactory));
    let catalog = builder.load("hms", given).await.expect("a catalog");
    let space = NamespaceIdent::new("rust_db".into());
    namespaces(&catalog, &space, folder).await;
    tables(&catalog, &space).await;
    say("drop namespace", catalog.drop_namespace(&space).await);
    say("namespaces", catalog.list_namespaces(None).await);
}

async fn namespaces(catalog: &HmsCatalog, space: &NamespaceIdent, folder: &str) {
    let absent = NamespaceIdent::new("absent".into());
    let place = format!("{}/odd place/rust_db", folder.trim_start_matches("file://"));
    let given = properties(&[("location", &place), ("comment", "of Rust"), ("k", "v")]);
    say(
        "create namespace",
        catalog.create_namespace(space, given).await.map(|_| ()),
    );
    say(
        "create it again",
        catalog.create_namespace(space, HashMap::new()).await.map(|_| ()),
    );
    say("its properties", catalog.get_namespace(space).await.map(ordered));
    say(
        "update them",
        catalog.update_namespace(space, properties(&[("n", "1")])).await,
    );
    say("its properties then", catalog.get_namespace(space).await.map(ordered));
    say("properties of none", catalog.get_namespace(&absent).await.map(ordered));
    say("does it exist", catalog.namespace_exists(space).await);
    say("does none exist", catalog.namespace_exists(&absent).await);
    say("tables of none", catalog.list_tables(&absent).await);
    say(
        "create a table in none",
        catalog.create_table(&absent, creation("t")).await.map(|_| ()),
    );
}

async fn tables(catalog: &HmsCatalog, space: &NamespaceIdent) {
    let sales = TableIdent::new(space.clone(), "sales".into());
    let sold = TableIdent::new(space.clone(), "sold".into());
    let made = catalog.create_table(space, creation("sales")).await;
    say(
        "create table",
        made.map(|table| table.metadata().location().to_string()),
    );
    let loaded = catalog.load_table(&sales).await;
    say(
        "load",
        loaded.map(|table| table.metadata().current_schema().as_ref() == &schema()),
    );
    say("load none", catalog.load_table(&sold).await.map(|_| ()));
    say("rename", catalog.rename_table(&sales, &sold).await);
    say("rename none", catalog.rename_table(&sales, &sold).await);
    say("does the old one exist", catalog.table_exists(&sales).await);
    say("does the new one exist", catalog.table_exists(&sold).await);
    say("tables", catalog.list_tables(space).await);
    say("drop table", catalog.drop_table(&sold).await);
    say("drop it again", catalog.drop_table(&sold).await);
}

fn creation(name: &str) -> TableCreation {
    TableCreation::builder()
        .name(name.to_string())
        .schema(schema())
        .properties(properties(&[("p", "q")]))
        .build()
}

fn schema() -> Schema {
    let decimal = PrimitiveType::Decimal {
        precision: 38,
        scale: 9,
    };
    let element = Arc::new(NestedField::list_element(20, Type::Primitive(PrimitiveType::Int), true));
    let inner = Arc::new(NestedField::optional(
        21,
        "Inner",
        Type::Primitive(PrimitiveType::Boolean),
    ));
    let simple = [
        PrimitiveType::Long,
        PrimitiveType::String,
        decimal,
        PrimitiveType::Date,
        PrimitiveType::Timestamp,
        PrimitiveType::Uuid,
    ];
    let mut types: Vec<Type> = simple.into_iter().map(Type::Primitive).collect();
    types.extend([
        Type::List(ListType::new(element)),
        Type::Struct(StructType::new(vec![inner])),
    ]);
    let numbered = types.into_iter().enumerate();
    let fields = numbered.map(|(i, each)| Arc::new(NestedField::optional(i as i32 + 1, format!("c{i}"), each)));
    Schema::builder().with_fields(fields).build().expect("a schema")
}

fn properties(given: &[(&str, &str)]) -> HashMap<String, String> {
    given
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect()
}

fn ordered(found: Namespace) -> BTreeMap<String, String> {
    found.properties().clone().into_iter().collect()
}
