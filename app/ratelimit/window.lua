-- Counts one request in the current calendar minute, unless the limit is reached.
--
-- KEYS[1]  the counter: "minute since the epoch:requests".
-- ARGV[1]  the limit, at least 1.
--
-- Returns {admitted (1 or 0), requests counted, milliseconds left of the window,
-- Unix second at which the window ends}.
--
-- The window is stored beside the count, so that a counter which outlives its
-- minute by a moment (expiry and TIME are not read at one instant) starts anew.
local now = redis.call('TIME')
local seconds, micros = tonumber(now[1]), tonumber(now[2])
local window = math.floor(seconds / 60)
local ends = (window + 1) * 60
local left = (ends - seconds) * 1000 - math.floor(micros / 1000)

local count = 0
local counter = redis.call('GET', KEYS[1])
if counter then
    local minute, counted = string.match(counter, '^(%d+):(%d+)$')
    if tonumber(minute) == window then
        count = tonumber(counted)
    end
end
if count >= tonumber(ARGV[1]) then
    return {0, count, left, ends}
end
count = count + 1
redis.call('SET', KEYS[1], window .. ':' .. count, 'PX', left)
return {1, count, left, ends}
