// What every service of the family answers about itself.

namespace py fb303

service FacebookService {
  i64 aliveSince(),
  i64 getCounter(1: string key),
  map<string,i64> getCounters(),
  string getCpuProfile(1: i32 profileDurationInSec),
  string getName(),
  string getOption(1: string key),
  map<string,string> getOptions(),
  i32 getStatus(),
  string getStatusDetails(),
  string getVersion(),
  oneway void reinitialize(),
  void setOption(1: string key, 2: string value),
  oneway void shutdown(),
}
