-- What likwid's own printOutput writes of the made-up run of tests/support/measurements, as CSV, by the
-- installed likwid: lua5.3 likwid_output.lua CPUS metrics|custom GROUPS [stats]
-- Counters, machine and times are made up; the shape of the text is likwid's.
package.path = "/usr/share/lua/?.lua;" .. package.path
local likwid = require("likwid")
local cpus = {}
for cpu in arg[1]:gmatch("%d+") do table.insert(cpus, math.tointeger(tonumber(cpu))) end
local with_metrics, groups, stats = arg[2] == "metrics", math.tointeger(tonumber(arg[3])), arg[4] == "stats"
local events = {
    { "INSTR_RETIRED_ANY", "FIXC0", 4e9 },
    { "CPU_CLK_UNHALTED_CORE", "FIXC1", 5e9 },
    { "CPU_CLK_UNHALTED_REF", "FIXC2", 5e9 },
    { "LONGEST_LAT_CACHE_REFERENCE", "PMC0", 9e6 },
    { "LONGEST_LAT_CACHE_MISS", "PMC1", 6e6 },
    { "MEM_LOAD_L3_MISS_RETIRED_REMOTE_HITM", "PMC2", 1e6 },
    { "MEM_LOAD_L3_MISS_RETIRED_REMOTE_FWD", "PMC3", 2e5 },
    { "MEM_LOAD_L3_HIT_RETIRED_XSNP_NO_FWD", "PMC4", 2e5 },
    { "MEM_LOAD_L3_HIT_RETIRED_XSNP_FWD", "PMC5", 2e5 },
}
local metrics = {
    { "Runtime (RDTSC) [s]", 2.0 },
    { "Runtime unhalted [s]", 1.99 },
    { "Clock [MHz]", 2500.0 },
    { "CPI", 1.25 },
    { "L3 load bandwidth [MBytes/s]", 288.0 },
}
use_csv = true
likwid_getCpuInfo = function()
    return { osname = "Intel(R) Xeon(R) Platinum 8480+", name = "Intel SapphireRapids processor" }
end
likwid.getCpuClock = function() return 2.4e9 end
likwid.getRuntimeOfGroup = function() return 2.0 end
likwid.getNameOfGroup = function() return with_metrics and "L3" or "Custom" end
likwid.getNumberOfMetrics = function() return with_metrics and #metrics or 0 end
likwid.getNameOfMetric = function(_, metric) return metrics[metric][1] end
likwid.getNameOfEvent = function(_, event) return events[event][1] end
likwid.getNameOfCounter = function(_, event) return events[event][2] end
local function columns(rows, value)
    local table_ = {}
    for at, row in ipairs(rows) do
        table_[at] = {}
        for cpu = 1, #cpus do table_[at][cpu] = row[value] end
    end
    return table_
end
local counted, derived = {}, {}
for group = 1, groups do
    counted[group], derived[group] = columns(events, 3), columns(metrics, 2)
end
likwid.printOutput(counted, derived, cpus, nil, stats)
os.exit(0, false) -- likwid's own end of a measurement never began
