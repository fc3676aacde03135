package app

import (
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// redisTimeout bounds every question to Redis: nothing a request needs waits
// for it longer, and everything works without its answer.
const redisTimeout = 250 * time.Millisecond

// newRedis returns a client that never repeats a command. go-redis repeats
// three times by default, and a counter whose reply was lost would count twice.
func newRedis(rawURL string) (redis.UniversalClient, error) {
	parsed, err := asynq.ParseRedisURI(rawURL)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	options := &redis.UniversalOptions{
		MaxRetries: -1, DialTimeout: redisTimeout, ReadTimeout: redisTimeout, WriteTimeout: redisTimeout,
		PoolTimeout: redisTimeout, DialerRetries: 1,
	}
	switch opt := parsed.(type) {
	case asynq.RedisClientOpt:
		options.Addrs, options.DB, options.TLSConfig = []string{opt.Addr}, opt.DB, opt.TLSConfig
		options.Username, options.Password = opt.Username, opt.Password
	case asynq.RedisFailoverClientOpt:
		options.Addrs, options.MasterName, options.DB, options.TLSConfig = opt.SentinelAddrs, opt.MasterName, opt.DB, opt.TLSConfig
		options.Username, options.Password = opt.Username, opt.Password
		options.SentinelUsername, options.SentinelPassword = opt.SentinelUsername, opt.SentinelPassword
	default:
		return nil, fmt.Errorf("REDIS_URL: %T is not supported", parsed)
	}
	return redis.NewUniversalClient(options), nil
}
