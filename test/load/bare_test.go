//go:build bench

package load_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/botix-pro/platform/internal/testenv"
)

// bareVariable makes this test binary serve the bare thing instead of testing:
// it has to be a process of its own, like the server it is compared with.
const bareVariable = "BOTIX_BENCH_BARE"

func TestMain(m *testing.M) {
	if addr := os.Getenv(bareVariable); addr != "" {
		if err := serveBare(addr, os.Getenv("DATABASE_URL")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testenv.Main(m)
}

// bareContact is what somebody writes on the first day: no key, no limit, no
// event, GORM's defaults.
type bareContact struct {
	ID         int64   `gorm:"primaryKey" json:"id"`
	ExternalID *string `json:"external_id"`
	Name       *string `json:"name"`
	Email      *string `json:"email"`
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

func serveBare(addr, databaseURL string) error {
	db, err := gorm.Open(postgres.Open(databaseURL), &gorm.Config{})
	if err != nil {
		return err
	}
	if err := db.Exec(`CREATE TABLE IF NOT EXISTS bare_contacts (
		id bigserial PRIMARY KEY, external_id text, name text, email text, created_at timestamptz, updated_at timestamptz)`).Error; err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(20)
	pool.SetMaxIdleConns(20)
	e := echo.New()
	e.POST("/insert", func(c echo.Context) error {
		var contact bareContact
		if err := c.Bind(&contact); err != nil {
			return err
		}
		if err := db.WithContext(c.Request().Context()).Create(&contact).Error; err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, contact)
	})
	e.POST("/answer", func(c echo.Context) error {
		var contact bareContact
		if err := c.Bind(&contact); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, contact)
	})
	return e.Start(addr)
}
