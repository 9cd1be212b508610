create schema if not exists {s}
show databases
show table extended in {s} like '*'
create table {s}.people using parquet comment 'everyone\'s' as select id, cast(id % 3 as string) as team from range(30)
create table {s}.by_day using parquet partitioned by (day) location '{w}/by_day' as select id, id * 0.5 as price, cast(id % 2 as int) as day from range(10)
create table {s}.hived stored as orc as select 1 as a
create or replace view {s}.adults comment 'some' as select id from {s}.people where id > 17
create or replace view {s}.adults (id comment 'the key') as select id from {s}.people where id > 18
show table extended in {s} like '*'
show tables in {s} like '*'
describe extended {s}.people
describe extended {s}.by_day
describe extended {s}.adults
describe extended {s}.nothing
show tblproperties {s}.people
show tblproperties {s}.adults
create or replace temporary view people__dbt_tmp as select 100 as id, 'new' as team
insert into table {s}.people select id, team from people__dbt_tmp
insert overwrite table {s}.by_day partition (day) select 1, 1.5, 1
select day, count(*) from {s}.by_day group by day order by day
alter table {s}.people add columns (note string)
alter table {s}.people change column note comment 'noted'
describe extended {s}.people
analyze table {s}.people compute statistics for all columns
describe extended {s}.people
show table extended in {s} like 'people'
create table {s}.people__dbt_backup using parquet as select 1 as id
alter table {s}.people rename to {s}.people__dbt_old
alter table {s}.people__dbt_backup rename to {s}.people
select * from {s}.people
select count(*) from {s}.people__dbt_old
alter view {s}.adults rename to {s}.grown
show table extended in {s} like '*'
drop view if exists {s}.grown
drop view if exists {s}.grown
drop table if exists {s}.people__dbt_old
drop table if exists {s}.people__dbt_old
drop view if exists {s}.people
drop schema if exists {s} cascade
drop schema if exists {s} cascade
show databases
