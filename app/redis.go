package app

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisTimeout bounds every question that a request asks Redis: nothing waits
// for it longer, and everything works without its answer.
const redisTimeout = 250 * time.Millisecond

// newRedis returns the client that requests use. It never repeats a command:
// go-redis repeats three times by default, and a counter whose reply was lost
// would count twice.
func newRedis(rawURL string) (redis.UniversalClient, error) {
	options, err := redisOptions(rawURL)
	if err != nil {
		return nil, err
	}
	options.MaxRetries, options.DialerRetries = -1, 1
	options.Protocol = 2 // replies only: looking for pushed messages takes a tenth of a question's time
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = redisTimeout, redisTimeout, redisTimeout
	options.PoolTimeout = redisTimeout
	return redis.NewUniversalClient(options), nil
}

// newQueueRedis returns the client that asynq uses, in the background and with
// patience: a hint sent twice does no harm.
func newQueueRedis(rawURL string) (redis.UniversalClient, error) {
	options, err := redisOptions(rawURL)
	if err != nil {
		return nil, err
	}
	options.ContextTimeoutEnabled = true // a hint's own short deadline holds
	return redis.NewUniversalClient(options), nil
}

// redisOptions reads redis://, rediss:// and
// redis-sentinel://user:password@host1,host2/db?master=name&sentinel_password=….
func redisOptions(rawURL string) (*redis.UniversalOptions, error) {
	if strings.HasPrefix(rawURL, "redis-sentinel://") {
		return sentinelOptions(rawURL)
	}
	parsed, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, errors.New("REDIS_URL cannot be read") // the error would repeat the value, password included
	}
	return &redis.UniversalOptions{
		Addrs: []string{parsed.Addr}, Username: parsed.Username, Password: parsed.Password, DB: parsed.DB, TLSConfig: parsed.TLSConfig,
	}, nil
}

func sentinelOptions(rawURL string) (*redis.UniversalOptions, error) {
	parsed, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("REDIS_URL cannot be read")
	}
	database := 0
	if path := strings.Trim(parsed.Path, "/"); path != "" {
		if database, err = strconv.Atoi(path); err != nil {
			return nil, fmt.Errorf("REDIS_URL: the database %q is not a number", path)
		}
	}
	password, _ := parsed.User.Password()
	query := parsed.Query()
	return &redis.UniversalOptions{
		Addrs: strings.Split(parsed.Host, ","), MasterName: query.Get("master"), DB: database,
		Username: parsed.User.Username(), Password: password,
		SentinelUsername: query.Get("sentinel_username"), SentinelPassword: query.Get("sentinel_password"),
	}, nil
}
