package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// redisLog takes go-redis's own messages, which it writes to the standard log
// otherwise: one per failed dial, hundreds in an outage that the callers report
// themselves.
type redisLog struct{ log *slog.Logger }

// Printf implements the logger that go-redis asks for.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis: "+fmt.Sprintf(format, args...))
}

func useLog(log *slog.Logger) {
	slog.SetDefault(log)
	redis.SetLogger(redisLog{log})
}
