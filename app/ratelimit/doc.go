// Package ratelimit counts requests in fixed windows of one calendar minute
// (contract §4). One Lua script in Redis decides for all servers, by Redis's
// clock; when Redis cannot be asked, each server counts its own share in memory.
//
// A fixed window admits up to twice the limit across its edge.
package ratelimit
