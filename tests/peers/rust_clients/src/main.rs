//! Iceberg's Rust library in a Hive Metastore: one line of output for each step. Arguments: URI, folder, transport.

mod catalog;
mod statistics;

use std::fmt::Debug;

#[tokio::main]
async fn main() {
    let [uri, folder, transport] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .expect("three arguments");
    let address = uri.trim_start_matches("thrift://");
    catalog::session(address, &folder, &transport).await;
    statistics::session(address, &folder, &transport).await;
}

fn say<T: Debug, E: Debug>(step: &str, found: Result<T, E>) {
    match found {
        Ok(value) => println!("{step}: {value:?}"),
        Err(error) => println!(
            "{step}: error {}",
            format!("{error:?}").lines().next().unwrap_or_default()
        ),
    }
}
