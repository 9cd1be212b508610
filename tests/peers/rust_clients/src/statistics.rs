//! Statistics through the client below Iceberg's catalog, which knows the calls of Hive 2.3.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::SocketAddr;

use hive_metastore as hms;
use hive_metastore::ColumnStatisticsData::{
    BooleanStats, DateStats, DecimalStats, DoubleStats, LongStats, StringStats,
};
use hive_metastore::{ThriftHiveMetastoreClient, ThriftHiveMetastoreClientBuilder};
use pilota::FastStr;
use volo_thrift::MaybeException;
use volo_thrift::codec::default::DefaultMakeCodec;

use crate::say;

const DATABASE: &str = "rust_stats";
const VALUES: [&str; 4] = ["a b", "c/d=e", "é", "01"];

pub async fn session(address: &str, folder: &str, transport: &str) {
    let client = open(address, transport);
    create(&client, folder).await;
    of_table(&client).await;
    of_partitions(&client).await;
    say(
        "drop",
        answered(client.drop_database(DATABASE.into(), true, true).await),
    );
}

fn open(address: &str, transport: &str) -> ThriftHiveMetastoreClient {
    let builder =
        ThriftHiveMetastoreClientBuilder::new("hms").address(address.parse::<SocketAddr>().expect("an address"));
    match transport {
        "framed" => builder.make_codec(DefaultMakeCodec::framed()).build(),
        _ => builder.make_codec(DefaultMakeCodec::buffered()).build(),
    }
}

async fn create(client: &ThriftHiveMetastoreClient, folder: &str) {
    let location = Some(format!("{folder}/rust_stats").into());
    let database = hms::Database {
        name: Some(DATABASE.into()),
        location_uri: location,
        ..Default::default()
    };
    say("create database", answered(client.create_database(database).await));
    for (name, keys) in [("plain", vec![]), ("parted", vec![("k", "string"), ("n", "int")])] {
        let table = hms::Table {
            table_name: Some(name.into()),
            db_name: Some(DATABASE.into()),
            owner: Some("rust".into()),
            sd: Some(storage()),
            partition_keys: Some(fields(keys)),
            parameters: Some(Default::default()),
            ..Default::default()
        };
        say("create table", answered(client.create_table(table).await));
    }
    let parts = VALUES.iter().enumerate().map(|(i, value)| hms::Partition {
        values: Some(vec![(*value).into(), i.to_string().into()]),
        db_name: Some(DATABASE.into()),
        table_name: Some("parted".into()),
        sd: Some(storage()),
        parameters: Some(Default::default()),
        ..Default::default()
    });
    say("add partitions", answered(client.add_partitions(parts.collect()).await));
}

fn storage() -> hms::StorageDescriptor {
    let serde = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe";
    hms::StorageDescriptor {
        cols: Some(fields(
            statistics(0)
                .iter()
                .map(|each| (each.col_name.as_str(), each.col_type.as_str()))
                .collect(),
        )),
        input_format: Some("org.apache.hadoop.mapred.TextInputFormat".into()),
        output_format: Some("org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat".into()),
        serde_info: Some(hms::SerDeInfo {
            serialization_lib: Some(serde.into()),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn fields(given: Vec<(&str, &str)>) -> Vec<hms::FieldSchema> {
    let field = |(name, kind): (&str, &str)| hms::FieldSchema {
        name: Some(name.to_string().into()),
        r#type: Some(kind.to_string().into()),
        comment: None,
    };
    given.into_iter().map(field).collect()
}

fn statistics(low: i64) -> Vec<hms::ColumnStatisticsObj> {
    let whole = |low, high| hms::LongColumnStatsData {
        low_value: Some(low),
        high_value: Some(high),
        num_nulls: 1,
        num_d_vs: 50,
        ..Default::default()
    };
    let real = hms::DoubleColumnStatsData {
        low_value: Some((-0.5).into()),
        high_value: Some(1e300.into()),
        num_nulls: 3,
        num_d_vs: 8,
        ..Default::default()
    };
    let text = hms::StringColumnStatsData {
        max_col_len: 10 + low,
        avg_col_len: 3.25.into(),
        num_nulls: 2,
        num_d_vs: 7,
        ..Default::default()
    };
    let decimal = hms::DecimalColumnStatsData {
        low_value: Some(hms::Decimal {
            scale: 2,
            unscaled: vec![0xff, 0x38].into(),
        }),
        high_value: Some(hms::Decimal {
            scale: 1,
            unscaled: vec![0x7b].into(),
        }),
        num_nulls: 4,
        num_d_vs: 9,
        ..Default::default()
    };
    let day = hms::DateColumnStatsData {
        low_value: Some(hms::Date { days_since_epoch: -3 }),
        high_value: Some(hms::Date {
            days_since_epoch: 20_000 + low,
        }),
        num_nulls: 5,
        num_d_vs: 10,
        ..Default::default()
    };
    let truth = hms::BooleanColumnStatsData {
        num_trues: 11,
        num_falses: 12,
        num_nulls: 13,
        ..Default::default()
    };
    let column = |name: &str, kind: &str, data| hms::ColumnStatisticsObj {
        col_name: name.to_string().into(),
        col_type: kind.to_string().into(),
        stats_data: data,
    };
    vec![
        column("b", "boolean", BooleanStats(truth)),
        column("d", "double", DoubleStats(real)),
        column("day", "date", DateStats(day)),
        column("dec", "decimal(10,2)", DecimalStats(decimal)),
        column("i", "bigint", LongStats(whole(low, low + 100))),
        column("s", "string", StringStats(text)),
        column("t", "timestamp", LongStats(whole(-1, 1_700_000_000 + low))),
    ]
}

async fn of_table(client: &ThriftHiveMetastoreClient) {
    let given = hms::ColumnStatistics {
        stats_desc: described("plain", None),
        stats_obj: statistics(5),
    };
    say(
        "write the table's",
        answered(client.update_table_column_statistics(given).await),
    );
    let request = hms::TableStatsRequest {
        db_name: DATABASE.into(),
        tbl_name: "plain".into(),
        col_names: columns(),
    };
    let read = answered(client.get_table_statistics_req(request).await);
    say("read the table's", read.map(|found| ordered(found.table_stats)));
    for (table, column) in [("plain", "absent"), ("absent", "i")] {
        let found = client
            .get_table_column_statistics(DATABASE.into(), table.into(), column.into())
            .await;
        println!("read {table}.{column}: refused {}", answered(found).is_err());
    }
}

async fn of_partitions(client: &ThriftHiveMetastoreClient) {
    let names = answered(client.get_partition_names(DATABASE.into(), "parted".into(), -1).await).expect("names");
    println!("names: {names:?}");
    let sets = names.iter().enumerate().map(|(i, name)| hms::ColumnStatistics {
        stats_desc: described("parted", Some(name.clone())),
        stats_obj: statistics(1000 * i as i64),
    });
    let given = hms::SetPartitionsStatsRequest {
        col_stats: sets.collect(),
        ..Default::default()
    };
    say(
        "write the partitions'",
        answered(client.set_aggr_stats_for(given).await),
    );
    let request = hms::PartitionsStatsRequest {
        db_name: DATABASE.into(),
        tbl_name: "parted".into(),
        col_names: columns(),
        part_names: names.clone(),
        cat_name: None,
    };
    let read = answered(client.get_partitions_statistics_req(request.clone()).await);
    let by_name = |found: hms::PartitionsStatsResult| -> BTreeMap<_, _> {
        found
            .part_stats
            .into_iter()
            .map(|(name, each)| (name, ordered(each)))
            .collect()
    };
    say("read the partitions'", read.map(by_name));
    let sum = answered(client.get_aggr_stats_for(request).await);
    say(
        "their aggregate",
        sum.map(|found| (ordered(found.col_stats), found.parts_found)),
    );
    let one = client.get_partition_column_statistics(DATABASE.into(), "parted".into(), names[0].clone(), "t".into());
    say(
        "read one column of one",
        answered(one.await).map(|found| found.stats_obj),
    );
}

fn described(table: &'static str, partition: Option<FastStr>) -> hms::ColumnStatisticsDesc {
    hms::ColumnStatisticsDesc {
        is_tbl_level: partition.is_none(),
        db_name: DATABASE.into(),
        table_name: table.into(),
        part_name: partition,
        ..Default::default()
    }
}

fn columns() -> Vec<FastStr> {
    statistics(0).into_iter().map(|each| each.col_name).collect()
}

fn ordered(mut found: Vec<hms::ColumnStatisticsObj>) -> Vec<hms::ColumnStatisticsObj> {
    found.sort_by(|a, b| a.col_name.cmp(&b.col_name));
    found
}

fn answered<T, X: Debug, E: Debug>(found: Result<MaybeException<T, X>, E>) -> Result<T, String> {
    match found {
        Ok(MaybeException::Ok(value)) => Ok(value),
        Ok(MaybeException::Exception(refusal)) => Err(format!("{refusal:?}")),
        Err(error) => Err(format!("{error:?}")),
    }
}
